// The pins of response_queue: Atomic Responses are matched with the requests that wait for them.
module response_queue_checker #(
  parameter int unsigned WriteBits = rnic_messages_pkg::WriteBits
) (
  input logic                                  clk_i,
  input logic                                  rst_ni,
  input logic                                  issued_valid_i,
  input logic                                  issued_ready_o,
  input rnic_messages_pkg::atomic_issued_t     issued_i,
  input logic                                  in_valid_i,
  input logic                                  in_ready_o,
  input rnic_messages_pkg::delivered_atomic_t  in_i,
  input logic                                  dma_ready_i,
  input logic                                  dma_valid_o,
  input rnic_messages_pkg::dma_write_request_t dma_o,
  input logic                                  written_valid_i,
  input logic                                  written_ready_o,
  input rnic_messages_pkg::dma_write_done_t    written_i,
  input logic                                  done_ready_i,
  input logic                                  done_valid_o,
  input rnic_messages_pkg::atomic_done_t       done_o,
  input logic                                  unblock_ready_i,
  input logic                                  unblock_valid_o,
  input rnic_messages_pkg::tx_unblock_t        unblock_o,
  input logic                                  event_ready_i,
  input logic                                  event_valid_o,
  input rnic_messages_pkg::qp_event_t          event_o,
  input logic                                  under_way_write_o,
  input logic                                  request_row_ready_i,
  input logic                                  request_row_ask_o,
  input logic                                  request_row_valid_i,
  input logic                                  request_row_drop_o,
  input logic                                  response_row_ready_i,
  input logic                                  response_row_ask_o,
  input logic                                  response_row_valid_i,
  input logic                                  response_row_drop_o,
  input logic                                  response_pop_o,
  input logic                                  stag_ready_i,
  input logic                                  stag_ask_o,
  input logic                                  stag_valid_i,
  input logic                                  stag_drop_o
);
  logic quiet;
  assign quiet = !issued_valid_i && !in_valid_i && !written_valid_i && !request_row_valid_i && !response_row_valid_i;
  offer_checker #(.Width($bits(issued_i))) u_issued (
    .clk_i, .rst_ni, .valid_i(issued_valid_i), .ready_i(issued_ready_o), .message_i(issued_i)
  );
  offer_checker #(.Width($bits(in_i))) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i(in_i)
  );
  offer_checker #(.Width($bits(written_i))) u_written (
    .clk_i, .rst_ni, .valid_i(written_valid_i), .ready_i(written_ready_o), .message_i(written_i)
  );
  credit_checker u_dma (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(dma_ready_i), .launch_i(dma_valid_o), .valid_i(dma_valid_o)
  );
  credit_checker u_done (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(done_ready_i), .launch_i(done_valid_o), .valid_i(done_valid_o)
  );
  credit_checker u_unblock (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(unblock_ready_i), .launch_i(unblock_valid_o), .valid_i(unblock_valid_o)
  );
  credit_checker u_event (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(event_ready_i), .launch_i(event_valid_o), .valid_i(event_valid_o)
  );
  row_checker u_request_row (
    .clk_i, .rst_ni,
    .ready_i(request_row_ready_i), .ask_i(request_row_ask_o), .valid_i(request_row_valid_i), .drop_i(request_row_drop_o)
  );
  row_checker u_response_row (
    .clk_i, .rst_ni,
    .ready_i(response_row_ready_i), .ask_i(response_row_ask_o), .valid_i(response_row_valid_i), .drop_i(response_row_drop_o)
  );
  row_checker u_stag (
    .clk_i, .rst_ni, .ready_i(stag_ready_i), .ask_i(stag_ask_o), .valid_i(stag_valid_i), .drop_i(stag_drop_o)
  );
  through_checker #(.Most(2 ** WriteBits)) u_writes (
    .clk_i, .rst_ni, .in_i(dma_valid_o), .out_i(done_valid_o)
  );

  ValueIsAWord_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o |-> dma_o.bytes == 32'd8 && dma_o.notify);
  WritesOrReports_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) !(dma_valid_o && event_valid_o));
  OfAResponse_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o || event_valid_o |-> response_row_drop_o);
  PopsWhatItWrites_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o |-> response_pop_o);
  WriteIsRecorded_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o == under_way_write_o);
  DoneWhenWritten_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_o == (written_valid_i && written_ready_o));
  DoneUnblocks_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_o == unblock_valid_o);
  UnblocksTheSame_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_o && unblock_valid_o |->
    unblock_o.kind == rnic_messages_pkg::TxUnblockReadDone && unblock_o.qpn == done_o.qpn && unblock_o.epoch == done_o.epoch);
  EventIsAnError_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) event_valid_o |->
    event_o.kind == rnic_messages_pkg::QpEventStreamError || event_o.kind == rnic_messages_pkg::QpEventLocalError);
endmodule
