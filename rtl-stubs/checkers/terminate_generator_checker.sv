// The pins of terminate_generator: errors come, and the first one of a stream leaves as its Terminate.
module terminate_generator_checker #(
  parameter int unsigned QpBits = rnic_messages_pkg::QpBits
) (
  input logic                                  clk_i,
  input logic                                  rst_ni,
  input logic                                  in_valid_i,
  input logic                                  in_ready_o,
  input rnic_messages_pkg::qp_event_t          in_i,
  input logic                                  out_ready_i,
  input logic                                  out_valid_o,
  input rnic_messages_pkg::terminate_message_t out_o,
  input logic [8*52-1:0]                       out_octets_o,
  input logic                                  event_ready_i,
  input logic                                  event_valid_o,
  input rnic_messages_pkg::qp_event_t          event_o,
  input logic [QpBits-1:0]                     qp_index_o,
  input logic                                  reported_write_o
);
  offer_checker #(.Width($bits(in_i))) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i(in_i)
  );
  credit_checker u_out (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(out_ready_i), .launch_i(out_valid_o), .valid_i(out_valid_o)
  );
  credit_checker u_event (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(event_ready_i), .launch_i(event_valid_o), .valid_i(event_valid_o)
  );

  // The control word (RFC 5040 section 4.8): layer and type, code, which headers follow. A tagged DDP header has 14 octets, an
  // untagged one 18, a Read Request's 28; ULPDU_Length is before them.
  logic       m, d, r;
  logic [5:0] least;
  assign {m, d, r} = out_octets_o[23:21];
  assign least     = 6'd4 + (d ? 6'd16 : 6'd0) + (r ? 6'd28 : 6'd0);
  // A stream has one Terminate: a queue pair's number may be used again, in another epoch.
  logic [32:0] told_q [2**QpBits];
  logic        told;
  assign told = told_q[qp_index_o] == {1'b1, out_o.epoch};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                        told_q <= '{default: '0};
    else if (out_valid_o && in_valid_i) told_q[qp_index_o] <= {1'b1, out_o.epoch};
  end

  OneForEach_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o == event_valid_o);
  OfTheError_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> in_valid_i && in_ready_o && reported_write_o);
  OfItsQueuePair_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_o.qpn == in_i.qpn && event_o.qpn == in_i.qpn);
  FirstErrorOnly_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> !told);
  CauseIsTheEvents_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> {out_octets_o[7:0], out_octets_o[15:8]} == event_o.cause);
  LengthOfItsHeaders_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_o.bytes == least || (d && out_o.bytes == least + 6'd4));
  HeadersBehindDdp_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o && (m || r) |-> d);
  ReservedAreZero_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_octets_o[20:16] == '0 && out_octets_o[31:24] == '0);
endmodule
