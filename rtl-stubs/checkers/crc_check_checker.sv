// The pins of crc_check: FPDUs come, and leave with the verdict on their CRC field.
module crc_check_checker #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 4,
  parameter bit          Elastic        = 1'b0  // beats leave any number of cycles after they were taken
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        in_valid_i,
  input logic                        in_ready_o,
  input rnic_stream_pkg::fpdu_beat_t in_i,
  input logic [8*BeatBytes-1:0]      in_data_i,
  input logic                        out_ready_i,
  input logic                        out_launch_o,
  input logic                        out_valid_o,
  input rnic_stream_pkg::fpdu_beat_t out_o,
  input logic [8*BeatBytes-1:0]      out_data_o
);
  logic [8*BeatBytes-1:0] octets;  // what counts of the data
  assign octets = in_data_i & ~({8 * BeatBytes{1'b1}} << {in_i.words, 5'd0});
  offer_checker #(.Width($bits(in_i) + 8 * BeatBytes)) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i({in_i, octets})
  );
  credit_checker #(.Cycles(PipelineCycles), .Elastic(Elastic)) u_out (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(out_ready_i), .launch_i(out_launch_o), .valid_i(out_valid_o)
  );
  logic take;
  assign take = in_valid_i && in_ready_o;
  fpdu_checker #(.BeatBytes(BeatBytes), .Beside(1'b1)) u_in_fpdus (
    .clk_i, .rst_ni, .take_i(take), .beat_i(in_i), .octets_i(in_data_i[15:0])
  );
  fpdu_checker #(.BeatBytes(BeatBytes), .Beside(1'b1)) u_out_fpdus (
    .clk_i, .rst_ni, .take_i(out_valid_o), .beat_i(out_o), .octets_i(out_data_o[15:0])
  );

  // A beat keeps its octets, and all fields but the verdict, which is of its last beat.
  logic [8*BeatBytes-1:0]      kept;
  rnic_stream_pkg::fpdu_beat_t unjudged;
  assign kept = ~({8 * BeatBytes{1'b1}} << {out_o.words, 5'd0});
  always_comb begin
    unjudged        = in_i;
    unjudged.crc_ok = 1'b0;
  end
  TakenIsLaunched_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take == out_launch_o);
  OkWithoutCrc_A    : assert property (@(posedge clk_i) disable iff (!rst_ni)
    out_valid_o && out_o.last && (!out_o.crc_on || out_o.placed || out_o.ends) |-> out_o.crc_ok);
  if (!Elastic) begin : gen_exact
    FieldsStay_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> (out_o & ~$bits(out_o)'(1)) == $past(unjudged, PipelineCycles));
    OctetsStay_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> (out_data_o & kept) == ($past(in_data_i, PipelineCycles) & kept));
  end
endmodule
