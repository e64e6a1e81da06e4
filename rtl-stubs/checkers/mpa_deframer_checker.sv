// The pins of mpa_deframer: pieces of TCP streams come, and FPDUs leave.
module mpa_deframer_checker #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 2,
  parameter int unsigned QueueFpdus     = 2,
  parameter bit          Elastic        = 1'b0
) (
  input logic                            clk_i,
  input logic                            rst_ni,
  input logic                            in_valid_i,
  input logic                            in_ready_o,
  input rnic_stream_pkg::stream_beat_t   in_i,
  input logic [8*BeatBytes-1:0]          in_data_i,
  input logic                            place_write_o,
  input logic [2*BeatBytes-1:0]          store_write_o,
  input logic [3:0]                      marker_write_o,
  input logic                            fpdu_complete_o,
  input logic [15:0]                     head_row_index_o,
  input logic                            out_ready_i,
  input logic                            out_launch_o,
  input logic                            out_valid_o,
  input rnic_stream_pkg::fpdu_beat_t     out_o,
  input logic [8*BeatBytes-1:0]          out_data_o,
  input logic                            consumed_ready_i,
  input logic                            consumed_valid_o,
  input rnic_messages_pkg::rx_consumed_t consumed_o,
  input logic                            busy_o
);
  logic [8*BeatBytes-1:0] octets;  // what counts of the data
  assign octets = in_data_i & ~({8 * BeatBytes{1'b1}} << {in_i.bytes, 3'd0});
  offer_checker #(.Width($bits(in_i) + 8 * BeatBytes)) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i({in_i, octets})
  );
  credit_checker #(.Cycles(PipelineCycles), .Elastic(Elastic)) u_out (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(out_ready_i), .launch_i(out_launch_o), .valid_i(out_valid_o)
  );
  credit_checker u_consumed (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(consumed_ready_i), .launch_i(consumed_valid_o), .valid_i(consumed_valid_o)
  );
  fpdu_checker #(.BeatBytes(BeatBytes), .Beside(1'b1), .Lengths(1'b1)) u_fpdus (
    .clk_i, .rst_ni, .take_i(out_valid_o), .beat_i(out_o), .octets_i(out_data_o[15:0])
  );
  through_checker #(.Most(QueueFpdus)) u_queue (
    .clk_i, .rst_ni, .in_i(fpdu_complete_o), .out_i(consumed_valid_o)
  );

  // The beats of a segment.
  logic                          take, open_q;
  rnic_stream_pkg::stream_beat_t before_q;
  assign take = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)   open_q <= 1'b0;
    else if (take) open_q <= !in_i.last;
  end
  always_ff @(posedge clk_i) begin
    if (take) before_q <= in_i;
  end

  SegmentsAlternate_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) take |-> in_i.first == !open_q);
  OctetsInRange_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) in_valid_i |-> in_i.bytes != '0 && in_i.bytes <= 8'(BeatBytes));
  FullBeforeLast_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) take && !in_i.last |-> in_i.bytes >= 8'(BeatBytes));
  SegmentGoesOn_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) take && !in_i.first && open_q |->
    in_i.offset == before_q.offset + 64'(before_q.bytes) &&
    {in_i.flow, in_i.qpn, in_i.life, in_i.markers, in_i.crc} == {before_q.flow, before_q.qpn, before_q.life, before_q.markers, before_q.crc});
  StoresWhatItTakes_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) (store_write_o != '0 || marker_write_o != '0) |-> place_write_o);
  StoresOneRun_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) ((store_write_o | (store_write_o - 1'b1)) + 1'b1 & store_write_o) == '0);
  CompletesWhatItTook_A : assert property (@(posedge clk_i) disable iff (!rst_ni) fpdu_complete_o |-> place_write_o);
  ConsumedAreWords_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) consumed_valid_o |-> consumed_o.bytes[1:0] == '0);
  ConsumedIsLaunched_A : assert property (@(posedge clk_i) disable iff (!rst_ni) consumed_valid_o |-> out_launch_o);
  RowsInOrder_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && out_launch_o |=>
    head_row_index_o == ($past(consumed_valid_o) ? '0 : $past(head_row_index_o) + 16'd1));
  BusyWithWhatItHolds_A : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && fpdu_complete_o |=> busy_o);
  if (!Elastic) begin : gen_exact
    ConsumedWithItsLast_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_o.last == $past(consumed_valid_o, PipelineCycles));
  end
endmodule
