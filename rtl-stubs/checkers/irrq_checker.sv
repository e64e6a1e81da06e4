// The pins of irrq: requests come, and are handed on in their order, up to IRD of each queue pair.
module irrq_checker (
  input logic                                   clk_i,
  input logic                                   rst_ni,
  input logic                                   in_valid_i,
  input logic                                   in_ready_o,
  input rnic_messages_pkg::queued_request_t     in_i,
  input logic                                   sent_valid_i,
  input logic                                   sent_ready_o,
  input rnic_messages_pkg::read_response_sent_t sent_i,
  input logic                                   out_ready_i,
  input logic                                   out_valid_o,
  input logic                                   atomic_ready_i,
  input logic                                   atomic_valid_o,
  input logic                                   event_ready_i,
  input logic                                   event_valid_o,
  input rnic_messages_pkg::qp_event_t           event_o,
  input logic                                   row_ready_i,
  input logic                                   row_ask_o,
  input logic                                   row_valid_i,
  input rnic_messages_pkg::irrq_row_t           row_i,
  input logic                                   row_drop_o,
  input logic                                   state_write_o,
  input logic                                   push_o,
  input logic                                   pop_o,
  input logic                                   due_ready_i,
  input logic                                   due_read_valid_i,
  input logic                                   due_atomic_valid_i,
  input logic                                   due_read_push_o,
  input logic                                   due_atomic_push_o,
  input logic                                   due_read_pop_o,
  input logic                                   due_atomic_pop_o,
  input logic                                   accepted_o,
  input logic [16:0]                            held_o
);
  logic quiet;
  assign quiet = !in_valid_i && !sent_valid_i && !row_valid_i && !due_read_valid_i && !due_atomic_valid_i;
  offer_checker #(.Width($bits(in_i))) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i(in_i)
  );
  offer_checker #(.Width($bits(sent_i))) u_sent (
    .clk_i, .rst_ni, .valid_i(sent_valid_i), .ready_i(sent_ready_o), .message_i(sent_i)
  );
  credit_checker u_out (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(out_ready_i), .launch_i(out_valid_o), .valid_i(out_valid_o)
  );
  credit_checker u_atomic (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(atomic_ready_i), .launch_i(atomic_valid_o), .valid_i(atomic_valid_o)
  );
  credit_checker u_event (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(event_ready_i), .launch_i(event_valid_o), .valid_i(event_valid_o)
  );
  row_checker u_row (
    .clk_i, .rst_ni, .ready_i(row_ready_i), .ask_i(row_ask_o), .valid_i(row_valid_i), .drop_i(row_drop_o)
  );

  // A request beyond IRD finds no buffer of QN 1 (RFC 5041 section 7.1).
  WithinIrd_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) accepted_o |-> row_valid_i && held_o <= 17'(row_i.qp.ird));
  EventIsOfTheQueue_A : assert property (@(posedge clk_i) disable iff (!rst_ni) event_valid_o |->
    event_o.kind == rnic_messages_pkg::QpEventStreamError && event_o.cause == rnic_messages_pkg::DdpInvalidMsnNoBuffer);
  AcceptsOrRefuses_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) !(accepted_o && event_valid_o));
  PushesOrPops_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) !(push_o && pop_o));
  ListOfItsRow_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) push_o || pop_o |-> state_write_o);
  ChangesItsRow_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) state_write_o |-> row_valid_i && row_drop_o);
  HoldsWithRoom_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) due_read_push_o || due_atomic_push_o |-> due_ready_i);
  HoldsOne_A          : assert property (@(posedge clk_i) disable iff (!rst_ni) !(due_read_push_o && due_atomic_push_o));
  ReleasesAHeldOne_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) due_read_pop_o |-> due_read_valid_i && out_valid_o);
  ReleasesAHeldAtomic_A : assert property (@(posedge clk_i) disable iff (!rst_ni) due_atomic_pop_o |-> due_atomic_valid_i && atomic_valid_o);
endmodule
