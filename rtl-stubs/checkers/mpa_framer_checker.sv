// The pins of mpa_framer: ULPDUs come, and the beats of their FPDUs leave.
module mpa_framer_checker #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 1,
  parameter bit          Elastic        = 1'b0
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        in_valid_i,
  input logic                        in_ready_o,
  input rnic_stream_pkg::ulpdu_t     in_i,
  input logic [15:0]                 mem_index_o,
  input logic                        out_ready_i,
  input logic                        out_launch_o,
  input logic                        out_valid_o,
  input rnic_stream_pkg::fpdu_beat_t out_o,
  input logic [8*BeatBytes-1:0]      out_data_o
);
  offer_checker #(.Width($bits(in_i))) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i(in_i)
  );
  credit_checker #(.Cycles(PipelineCycles), .Elastic(Elastic)) u_out (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(out_ready_i), .launch_i(out_launch_o), .valid_i(out_valid_o)
  );
  fpdu_checker #(.BeatBytes(BeatBytes), .Starts(1'b1), .Lengths(1'b1)) u_fpdus (
    .clk_i, .rst_ni, .take_i(out_valid_o), .beat_i(out_o), .octets_i(out_data_o[15:0])
  );
  logic take;
  assign take = in_valid_i && in_ready_o;
  through_checker u_through (
    .clk_i, .rst_ni, .in_i(take), .out_i(out_valid_o && out_o.last)
  );

  PositionOnAWord_A : assert property (@(posedge clk_i) disable iff (!rst_ni) in_valid_i |-> in_i.position[1:0] == '0);
  TakenIsLaunched_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take |-> out_launch_o);
  ReadsFromTheStart_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take |-> mem_index_o == '0);

  ReadsInOrder_A : assert property (@(posedge clk_i) disable iff (!rst_ni)
    rst_ni && out_launch_o |=> !out_launch_o || take || mem_index_o == $past(mem_index_o) + 16'd1);
endmodule
