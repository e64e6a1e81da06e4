// The pins of ddp_placement: segments of MPA and of SCTP come, and their payload is placed.
module ddp_placement_checker #(
  parameter int unsigned BeatBytes = 64
) (
  input logic                                   clk_i,
  input logic                                   rst_ni,
  input logic                                   in_valid_i,
  input logic                                   in_ready_o,
  input rnic_stream_pkg::fpdu_beat_t            in_i,
  input logic [8*BeatBytes-1:0]                 in_data_i,
  input logic [31:0]                            in_offset_i,
  input logic                                   sctp_in_valid_i,
  input logic                                   sctp_in_ready_o,
  input rnic_stream_pkg::fpdu_beat_t            sctp_in_i,
  input logic [8*BeatBytes-1:0]                 sctp_in_data_i,
  input logic [31:0]                            sctp_in_offset_i,
  input logic                                   posted_valid_i,
  input logic                                   posted_ready_o,
  input rnic_messages_pkg::rq_doorbell_t        posted_i,
  input logic                                   rqe_valid_i,
  input logic                                   rqe_ready_o,
  input logic                                   srq_arm_valid_i,
  input logic                                   srq_arm_ready_o,
  input logic                                   read_issued_valid_i,
  input logic                                   read_issued_ready_o,
  input rnic_messages_pkg::read_issued_t        read_issued_i,
  input logic                                   flush_valid_i,
  input logic                                   flush_ready_o,
  input rnic_messages_pkg::rq_flush_t           flush_i,
  input logic                                   answered_valid_i,
  input logic                                   answered_ready_o,
  input rnic_messages_pkg::read_response_sent_t answered_i,
  input logic                                   dma_ready_i,
  input logic                                   dma_valid_o,
  input rnic_messages_pkg::dma_write_request_t  dma_o,
  input logic                                   out_ready_i,
  input logic                                   out_valid_o,
  input rnic_messages_pkg::placed_segment_t     out_o,
  input logic                                   event_ready_i,
  input logic                                   event_valid_o,
  input rnic_messages_pkg::qp_event_t           event_o,
  input logic                                   rqe_taken_ready_i,
  input logic                                   rqe_taken_valid_o,
  input logic                                   srq_event_ready_i,
  input logic                                   srq_event_valid_o,
  input logic                                   event_row_ready_i,
  input logic                                   event_row_ask_o,
  input logic                                   event_row_valid_i,
  input logic                                   event_row_drop_o,
  input logic                                   mpa_row_ready_i,
  input logic                                   mpa_row_ask_o,
  input logic                                   mpa_row_valid_i,
  input logic                                   mpa_row_drop_o,
  input logic                                   sctp_row_ready_i,
  input logic                                   sctp_row_ask_o,
  input logic                                   sctp_row_valid_i,
  input logic                                   sctp_row_drop_o,
  input logic                                   mpa_stag_ready_i,
  input logic                                   mpa_stag_ask_o,
  input logic                                   mpa_stag_valid_i,
  input logic                                   mpa_stag_drop_o,
  input logic                                   sctp_stag_ready_i,
  input logic                                   sctp_stag_ask_o,
  input logic                                   sctp_stag_valid_i,
  input logic                                   sctp_stag_drop_o,
  input logic                                   mpa_region_ready_i,
  input logic                                   mpa_region_ask_o,
  input logic                                   mpa_region_valid_i,
  input logic                                   mpa_region_drop_o,
  input logic                                   sctp_region_ready_i,
  input logic                                   sctp_region_ask_o,
  input logic                                   sctp_region_valid_i,
  input logic                                   sctp_region_drop_o,
  input logic                                   event_write_o,
  input logic                                   state_write_o,
  input logic                                   places_o,
  input logic                                   begun_o,
  input logic                                   reads_pop_o,
  input logic                                   stag_end_o,
  input logic                                   rq_next_o,
  input logic                                   rq_use_o,
  input logic                                   unused_valid_i,
  input logic                                   unused_take_o,
  input logic                                   freed_valid_i,
  input logic                                   shared_event_valid_i
);
  logic                   quiet;
  logic [8*BeatBytes-1:0] in_octets, sctp_in_octets;  // what counts of the data
  assign quiet          = !in_valid_i && !sctp_in_valid_i && !posted_valid_i && !read_issued_valid_i && !flush_valid_i && !answered_valid_i &&
                          !event_row_valid_i && !unused_valid_i && !freed_valid_i && !shared_event_valid_i;
  assign in_octets      = in_data_i & ~({8 * BeatBytes{1'b1}} << {in_i.words, 5'd0});
  assign sctp_in_octets = sctp_in_data_i & ~({8 * BeatBytes{1'b1}} << {sctp_in_i.words, 5'd0});
  offer_checker #(.Width($bits(in_i) + 8 * BeatBytes)) u_mpa (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i({in_i, in_octets})
  );
  offer_checker #(.Width($bits(sctp_in_i) + 8 * BeatBytes)) u_sctp_in (
    .clk_i, .rst_ni, .valid_i(sctp_in_valid_i), .ready_i(sctp_in_ready_o), .message_i({sctp_in_i, sctp_in_octets})
  );
  offer_checker #(.Width($bits(posted_i))) u_posted (
    .clk_i, .rst_ni, .valid_i(posted_valid_i), .ready_i(posted_ready_o), .message_i(posted_i)
  );
  offer_checker #(.Width(1)) u_rqe (
    .clk_i, .rst_ni, .valid_i(rqe_valid_i), .ready_i(rqe_ready_o), .message_i(1'b0)
  );
  offer_checker #(.Width(1)) u_srq_arm (
    .clk_i, .rst_ni, .valid_i(srq_arm_valid_i), .ready_i(srq_arm_ready_o), .message_i(1'b0)
  );
  offer_checker #(.Width($bits(read_issued_i))) u_read_issued (
    .clk_i, .rst_ni, .valid_i(read_issued_valid_i), .ready_i(read_issued_ready_o), .message_i(read_issued_i)
  );
  offer_checker #(.Width($bits(flush_i))) u_flush (
    .clk_i, .rst_ni, .valid_i(flush_valid_i), .ready_i(flush_ready_o), .message_i(flush_i)
  );
  offer_checker #(.Width($bits(answered_i))) u_answered (
    .clk_i, .rst_ni, .valid_i(answered_valid_i), .ready_i(answered_ready_o), .message_i(answered_i)
  );
  credit_checker u_dma (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(dma_ready_i), .launch_i(dma_valid_o), .valid_i(dma_valid_o)
  );
  credit_checker u_record (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(out_ready_i), .launch_i(out_valid_o), .valid_i(out_valid_o)
  );
  credit_checker u_event (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(event_ready_i), .launch_i(event_valid_o), .valid_i(event_valid_o)
  );
  credit_checker u_rqe_taken (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(rqe_taken_ready_i), .launch_i(rqe_taken_valid_o), .valid_i(rqe_taken_valid_o)
  );
  credit_checker u_srq_event (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(srq_event_ready_i), .launch_i(srq_event_valid_o), .valid_i(srq_event_valid_o)
  );
  row_checker u_event_row (
    .clk_i, .rst_ni, .ready_i(event_row_ready_i), .ask_i(event_row_ask_o), .valid_i(event_row_valid_i), .drop_i(event_row_drop_o)
  );
  row_checker u_mpa_row (
    .clk_i, .rst_ni, .ready_i(mpa_row_ready_i), .ask_i(mpa_row_ask_o), .valid_i(mpa_row_valid_i), .drop_i(mpa_row_drop_o)
  );
  row_checker u_sctp_row (
    .clk_i, .rst_ni, .ready_i(sctp_row_ready_i), .ask_i(sctp_row_ask_o), .valid_i(sctp_row_valid_i), .drop_i(sctp_row_drop_o)
  );
  row_checker u_mpa_stag (
    .clk_i, .rst_ni, .ready_i(mpa_stag_ready_i), .ask_i(mpa_stag_ask_o), .valid_i(mpa_stag_valid_i), .drop_i(mpa_stag_drop_o)
  );
  row_checker u_sctp_stag (
    .clk_i, .rst_ni, .ready_i(sctp_stag_ready_i), .ask_i(sctp_stag_ask_o), .valid_i(sctp_stag_valid_i), .drop_i(sctp_stag_drop_o)
  );
  row_checker u_mpa_region (
    .clk_i, .rst_ni, .ready_i(mpa_region_ready_i), .ask_i(mpa_region_ask_o), .valid_i(mpa_region_valid_i), .drop_i(mpa_region_drop_o)
  );
  row_checker u_sctp_region (
    .clk_i, .rst_ni, .ready_i(sctp_region_ready_i), .ask_i(sctp_region_ask_o), .valid_i(sctp_region_valid_i), .drop_i(sctp_region_drop_o)
  );
  fpdu_checker #(.BeatBytes(BeatBytes), .Beside(1'b1)) u_in_fpdus (
    .clk_i, .rst_ni, .take_i(in_valid_i && in_ready_o), .beat_i(in_i), .octets_i(in_data_i[15:0])
  );
  fpdu_checker #(.BeatBytes(BeatBytes), .Beside(1'b0)) u_sctp_in_fpdus (
    .clk_i, .rst_ni, .take_i(sctp_in_valid_i && sctp_in_ready_o), .beat_i(sctp_in_i), .octets_i(sctp_in_data_i[15:0])
  );

  // The segment that is judged is the one whose last beat is taken. A beat's place in its buffer follows that of the beat before it.
  logic        take, sctp_take;
  logic        open_q, sctp_open_q;
  logic [31:0] after_q, sctp_after_q;
  logic        owes_q;  // a segment's last write is out, its record is not
  assign take      = in_valid_i && in_ready_o;
  assign sctp_take = sctp_in_valid_i && sctp_in_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q      <= 1'b0;
      sctp_open_q <= 1'b0;
      owes_q      <= 1'b0;
    end else begin
      if (take)             open_q      <= !in_i.last;
      if (sctp_take)        sctp_open_q <= !sctp_in_i.last;
      if (out_valid_o)      owes_q      <= 1'b0;
      else if (dma_valid_o) owes_q      <= dma_o.notify;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take)      after_q      <= in_offset_i + {24'd0, in_i.words, 2'd0};
    if (sctp_take) sctp_after_q <= sctp_in_offset_i + {24'd0, sctp_in_i.words, 2'd0};
  end

  OneLayerAtATime_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) state_write_o || places_o |->
    (take && in_i.last) != (sctp_take && sctp_in_i.last));
  JudgesWithRoom_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) state_write_o || places_o |-> event_ready_i);  // it may be an error
  BuffersFollow_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) take && !in_i.first && open_q |-> in_offset_i == after_q);
  SctpBuffersFollow_A    : assert property (@(posedge clk_i) disable iff (!rst_ni)
    sctp_take && !sctp_in_i.first && sctp_open_q |-> sctp_in_offset_i == sctp_after_q);
  WriteHasOctets_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o |-> dma_o.bytes != '0 && dma_o.bytes <= 32'd65535);
  RecordComesNext_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) dma_valid_o |-> !owes_q);
  LastWriteFirst_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o && out_o.awaits_write |-> owes_q || (dma_valid_o && dma_o.notify));
  NoWriteNoWait_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o && dma_valid_o |-> out_o.awaits_write);
  OpcodeIsAssigned_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_o.opcode <= rnic_messages_pkg::OpAtomicResponse);
  LayerOfTheEnd_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o && out_o.in_order |-> out_o.ended);
  EventIsAnError_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) event_valid_o |->
    event_o.kind == rnic_messages_pkg::QpEventStreamError || event_o.kind == rnic_messages_pkg::QpEventLocalError);
  ErrorPlacesNothing_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) begun_o |-> places_o);
  UsesWhatItAskedFor_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) rq_use_o |-> rq_next_o && state_write_o);
  EndsItsRead_A          : assert property (@(posedge clk_i) disable iff (!rst_ni) reads_pop_o |-> state_write_o);
  InvalidatesAtTheEnd_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) stag_end_o |-> places_o && state_write_o);
  EventOfItsRow_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) event_write_o |-> event_row_valid_i && event_row_drop_o);
  FreesWhatIsThere_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) rqe_taken_valid_o |-> freed_valid_i);
  TellsWhatIsThere_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) srq_event_valid_o |-> shared_event_valid_i);
  TakesWhatIsUnused_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) unused_take_o |-> unused_valid_i);
endmodule
