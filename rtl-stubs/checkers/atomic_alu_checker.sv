// The pins of atomic_alu: Atomic Requests come, and host memory is read and written for them.
module atomic_alu_checker #(
  parameter int unsigned Operations = 64,
  localparam int unsigned IndexWidth = Operations > 1 ? $clog2(Operations) : 1
) (
  input logic                                  clk_i,
  input logic                                  rst_ni,
  input logic                                  busy_o,
  input logic                                  in_valid_i,
  input logic                                  in_ready_o,
  input rnic_messages_pkg::queued_atomic_t     in_i,
  input logic                                  stag_ready_i,
  input logic                                  stag_ask_o,
  input logic                                  stag_valid_i,
  input logic                                  stag_drop_o,
  input logic                                  region_ready_i,
  input logic                                  region_ask_o,
  input logic                                  region_valid_i,
  input logic                                  region_drop_o,
  input logic                                  pages_ready_i,
  input logic                                  pages_ask_o,
  input logic                                  pages_valid_i,
  input logic                                  pages_drop_o,
  input logic                                  read_ready_i,
  input logic                                  read_valid_o,
  input rnic_messages_pkg::dma_read_request_t  read_o,
  input logic                                  read_done_valid_i,
  input logic                                  read_done_ready_o,
  input rnic_messages_pkg::dma_read_done_t     read_done_i,
  input logic [63:0]                           read_done_data_i,
  input logic                                  write_ready_i,
  input logic                                  write_valid_o,
  input rnic_messages_pkg::dma_write_request_t write_o,
  input logic                                  written_valid_i,
  input logic                                  written_ready_o,
  input rnic_messages_pkg::dma_write_done_t    written_i,
  input logic                                  out_ready_i,
  input logic                                  out_valid_o,
  input logic                                  event_ready_i,
  input logic                                  event_valid_o,
  input rnic_messages_pkg::qp_event_t          event_o,
  input logic                                  word_watch_o,
  input logic [IndexWidth-1:0]                 word_index_o,
  input logic                                  release_o,
  input logic [IndexWidth-1:0]                 release_index_o,
  input logic                                  fetch_add_o,
  input logic                                  cmp_swap_o,
  input logic                                  failed_o
);
  logic quiet;
  assign quiet = !in_valid_i && !read_done_valid_i && !written_valid_i;
  offer_checker #(.Width($bits(in_i))) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i(in_i)
  );
  offer_checker #(.Width($bits(read_done_i) + 64)) u_read_done (
    .clk_i, .rst_ni, .valid_i(read_done_valid_i), .ready_i(read_done_ready_o), .message_i({read_done_i, read_done_data_i})
  );
  offer_checker #(.Width($bits(written_i))) u_written (
    .clk_i, .rst_ni, .valid_i(written_valid_i), .ready_i(written_ready_o), .message_i(written_i)
  );
  credit_checker u_read (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(read_ready_i), .launch_i(read_valid_o), .valid_i(read_valid_o)
  );
  credit_checker u_write (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(write_ready_i), .launch_i(write_valid_o), .valid_i(write_valid_o)
  );
  credit_checker u_out (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(out_ready_i), .launch_i(out_valid_o), .valid_i(out_valid_o)
  );
  credit_checker u_event (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(event_ready_i), .launch_i(event_valid_o), .valid_i(event_valid_o)
  );
  row_checker u_stag (
    .clk_i, .rst_ni, .ready_i(stag_ready_i), .ask_i(stag_ask_o), .valid_i(stag_valid_i), .drop_i(stag_drop_o)
  );
  row_checker u_region (
    .clk_i, .rst_ni, .ready_i(region_ready_i), .ask_i(region_ask_o), .valid_i(region_valid_i), .drop_i(region_drop_o)
  );
  row_checker u_pages (
    .clk_i, .rst_ni, .ready_i(pages_ready_i), .ask_i(pages_ask_o), .valid_i(pages_valid_i), .drop_i(pages_drop_o)
  );
  through_checker #(.Most(Operations)) u_operations (
    .clk_i, .rst_ni, .in_i(word_watch_o), .out_i(release_o)
  );
  through_checker #(.Most(Operations)) u_writes (
    .clk_i, .rst_ni, .in_i(write_valid_o), .out_i(written_valid_i && written_ready_o)
  );

  // Operations in flight, and those that wait for what memory holds.
  logic [Operations-1:0] started_q, reads_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      started_q <= '0;
      reads_q   <= '0;
    end else begin
      if (release_o)         started_q[release_index_o] <= 1'b0;
      if (word_watch_o)      started_q[word_index_o] <= 1'b1;
      if (read_done_valid_i && read_done_ready_o) reads_q[read_done_i.tag[IndexWidth-1:0]] <= 1'b0;
      if (read_valid_o)      reads_q[read_o.tag[IndexWidth-1:0]] <= 1'b1;
    end
  end

  ReadsOneWord_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) read_valid_o |-> read_o.bytes == 32'd8 && read_o.address[2:0] == '0);
  WritesOneWord_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) write_valid_o |-> write_o.bytes == 32'd8 && write_o.address[2:0] == '0 && write_o.notify);
  TagIsFree_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) read_valid_o |-> read_o.tag < 32'(Operations) && !reads_q[read_o.tag[IndexWidth-1:0]]);
  ReadIsOfItsStart_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) read_valid_o |-> word_watch_o && read_o.tag == 32'(word_index_o));
  DoneWasRead_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) read_done_valid_i |-> reads_q[read_done_i.tag[IndexWidth-1:0]]);
  StartsAFreeOne_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) word_watch_o |->
    in_ready_o && (!started_q[word_index_o] || (release_o && release_index_o == word_index_o)));
  AnswersAStarted_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) release_o |-> started_q[release_index_o]);
  AnswersWhatIsOut_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) written_ready_o |-> written_valid_i && release_o);
  OutIsAnAnswer_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> release_o && (fetch_add_o || cmp_swap_o));
  CountsOne_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0({fetch_add_o, cmp_swap_o, failed_o}));
  EventIsOfAStream_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) event_valid_o |-> event_o.kind == rnic_messages_pkg::QpEventStreamError);
  BusyWhenItStarted_A : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && word_watch_o |=> busy_o);
endmodule
