// Validates DDP segments and places their payload in host memory: the twin of model/rnic/rx/ddp_placement. See
// ddp_placement.md there for timing and errors. A segment's writes leave, one a cycle, its record with the last one, while
// the beats of the next segments come in from MPA and SCTP.
// Rows of queue pairs and of STags are asked for and come later. The receive requests (receive_requests.md), which see this
// cycle's links before they answer, and the elements of each queue pair's list of outstanding Reads are outside.
module ddp_placement #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Links.
  input  logic                                  in_valid_i,
  output logic                                  in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t           in_i,
  input  logic [8*BeatBytes-1:0]                in_data_i,
  input  logic [31:0]                           in_offset_i,  // of the beat in its buffer
  input  logic                                  sctp_in_valid_i,
  output logic                                  sctp_in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t           sctp_in_i,
  input  logic [8*BeatBytes-1:0]                sctp_in_data_i,
  input  logic [31:0]                           sctp_in_offset_i,
  input  logic                                  posted_valid_i,
  output logic                                  posted_ready_o,
  input  rnic_messages_pkg::rq_doorbell_t       posted_i,
  input  logic                                  rqe_valid_i,  // for the receive requests, like the next one
  output logic                                  rqe_ready_o,
  input  logic                                  srq_arm_valid_i,
  output logic                                  srq_arm_ready_o,
  input  logic                                  read_issued_valid_i,
  output logic                                  read_issued_ready_o,
  input  rnic_messages_pkg::read_issued_t       read_issued_i,
  input  logic                                  flush_valid_i,
  output logic                                  flush_ready_o,
  input  rnic_messages_pkg::rq_flush_t          flush_i,
  input  logic                                  answered_valid_i,
  output logic                                  answered_ready_o,
  input  rnic_messages_pkg::read_response_sent_t answered_i,
  input  logic                                  dma_ready_i,
  output logic                                  dma_valid_o,
  output rnic_messages_pkg::dma_write_request_t dma_o,
  input  logic                                  out_ready_i,
  output logic                                  out_valid_o,
  output rnic_messages_pkg::placed_segment_t    out_o,
  input  logic                                  event_ready_i,
  output logic                                  event_valid_o,
  output rnic_messages_pkg::qp_event_t          event_o,
  input  logic                                  rqe_taken_ready_i,
  output logic                                  rqe_taken_valid_o,
  output rnic_messages_pkg::rqe_taken_t         rqe_taken_o,
  input  logic                                  srq_event_ready_i,
  output logic                                  srq_event_valid_o,
  output rnic_messages_pkg::srq_event_t         srq_event_o,
  // The receive table: a row is asked for and comes later, in front until it is dropped. Of events a row comes with the tag
  // of its ask.
  input  logic                                  one_port_i,      // one row is changed a cycle
  input  logic                                  event_row_ready_i,
  output logic                                  event_row_ask_o,
  output logic [31:0]                           event_row_index_o,
  output logic [3:0]                            event_row_tag_o,
  input  logic                                  event_row_valid_i,
  input  logic [3:0]                            event_row_tag_i,
  input  rnic_messages_pkg::rx_row_t            event_row_i,
  output logic                                  event_row_drop_o,
  output logic                                  event_write_o,   // the state in that row
  output rnic_messages_pkg::qp_rx_t             event_state_o,   // but for its list
  output logic                                  reads_push_o,    // to the end of its list
  output rnic_messages_pkg::read_issued_t       reads_push_issued_o,
  output logic                                  rq_end_o,        // its receive requests go unused
  output logic [31:0]                           rq_end_qpn_o,
  output logic [31:0]                           rq_end_cq_o,     // and complete there
  input  logic                                  mpa_row_ready_i,
  output logic                                  mpa_row_ask_o,
  output logic [31:0]                           mpa_row_index_o,
  input  logic                                  mpa_row_valid_i,
  input  logic                                  mpa_row_ok_i,    // there is such a queue pair
  input  rnic_messages_pkg::rx_row_t            mpa_row_i,
  input  rnic_messages_pkg::read_issued_t       mpa_oldest_i,    // in front of its list of Reads, if there is one
  output logic                                  mpa_row_drop_o,
  input  logic                                  sctp_row_ready_i,
  output logic                                  sctp_row_ask_o,
  output logic [31:0]                           sctp_row_index_o,
  input  logic                                  sctp_row_valid_i,
  input  logic                                  sctp_row_ok_i,    // there is such a queue pair
  input  rnic_messages_pkg::rx_row_t            sctp_row_i,
  input  rnic_messages_pkg::read_issued_t       sctp_oldest_i,    // in front of its list of Reads, if there is one
  output logic                                  sctp_row_drop_o,
  output logic [31:0]                           qpn_o,           // of the segment that is judged
  output logic                                  places_o,        // it is placed, or the end of its stream passed on
  output logic                                  state_write_o,   // in its row
  output rnic_messages_pkg::qp_rx_t             state_o,         // but for its list
  output logic                                  reads_pop_o,     // from its list
  // The table of STags, for each layer: a row is asked for and comes later. The segment's STag, with the region of a window,
  // is in front until it is dropped; the entries of a scatter list are kept until all are released, and the kept ones are
  // beside one another, with the one in front behind them.
  // When a Send's header comes, the receive request that it would get now.
  output logic                                  mpa_peek_o,
  input  logic                                  mpa_peek_there_i,
  input  rnic_messages_pkg::fetched_rqe_t       mpa_peek_i,
  input  logic                                  mpa_stag_ready_i,
  output logic                                  mpa_stag_ask_o,
  output logic [23:0]                           mpa_stag_index_o,
  input  logic                                  mpa_stag_valid_i,
  input  rnic_messages_pkg::stag_row_t          mpa_stag_i,
  output logic                                  mpa_stag_drop_o,
  input  logic                                  mpa_region_ready_i,
  output logic                                  mpa_region_ask_o,
  output logic [23:0]                           mpa_region_index_o,
  input  logic                                  mpa_region_valid_i,
  input  logic [23:0]                           mpa_region_row_i,
  input  rnic_messages_pkg::stag_context_t      mpa_region_i,
  output logic                                  mpa_region_drop_o,
  input  logic                                  mpa_scatter_ready_i,
  output logic                                  mpa_scatter_ask_o,
  output logic [23:0]                           mpa_scatter_index_o,
  input  logic                                  mpa_scatter_valid_i,
  input  logic [6*rnic_messages_pkg::StagContextBits-1:0] mpa_scatter_i,
  output logic                                  mpa_scatter_keep_o,
  output logic                                  mpa_scatter_drop_o,
  output logic                                  mpa_scatter_release_o,
  output logic                                  sctp_peek_o,
  input  logic                                  sctp_peek_there_i,
  input  rnic_messages_pkg::fetched_rqe_t       sctp_peek_i,
  input  logic                                  sctp_stag_ready_i,
  output logic                                  sctp_stag_ask_o,
  output logic [23:0]                           sctp_stag_index_o,
  input  logic                                  sctp_stag_valid_i,
  input  rnic_messages_pkg::stag_row_t          sctp_stag_i,
  output logic                                  sctp_stag_drop_o,
  input  logic                                  sctp_region_ready_i,
  output logic                                  sctp_region_ask_o,
  output logic [23:0]                           sctp_region_index_o,
  input  logic                                  sctp_region_valid_i,
  input  logic [23:0]                           sctp_region_row_i,
  input  rnic_messages_pkg::stag_context_t      sctp_region_i,
  output logic                                  sctp_region_drop_o,
  input  logic                                  sctp_scatter_ready_i,
  output logic                                  sctp_scatter_ask_o,
  output logic [23:0]                           sctp_scatter_index_o,
  input  logic                                  sctp_scatter_valid_i,
  input  logic [6*rnic_messages_pkg::StagContextBits-1:0] sctp_scatter_i,
  output logic                                  sctp_scatter_keep_o,
  output logic                                  sctp_scatter_drop_o,
  output logic                                  sctp_scatter_release_o,
  output logic [31:0]                           stag_o,     // of the segment that is judged
  output logic                                  begun_o,    // a placement that its STags allow has begun
  output logic                                  stag_end_o, // stag_o names nothing from the next cycle on
  // Receive requests.
  input  logic [31:0]                           posted_epoch_i, // the use of the queue pair's number
  input  logic                                  overrun_i,      // posted_i announces more than its queue pair's ring holds
  output logic                                  rq_next_o,      // asks for the next one of queue pair qpn_o,
  input  rnic_ddp_pkg::rq_next_t                rq_next_i,
  input  rnic_messages_pkg::fetched_rqe_t       rq_front_i,
  output logic                                  rq_use_o,       // which its message has filled
  input  logic                                  unused_valid_i,
  output logic                                  unused_take_o,
  input  rnic_ddp_pkg::unused_t                 unused_i,
  input  logic                                  freed_valid_i,
  input  rnic_messages_pkg::rqe_taken_t         freed_i,
  input  logic                                  shared_event_valid_i,
  input  rnic_messages_pkg::srq_event_t         shared_event_i,
  output logic                                  busy_o
);

  // What happens to queue pairs before the incoming segment sees their rows.
  logic        executes, read_now, about, report;
  logic [31:0] event_qpn, report_qpn, qpn;
  assign rqe_ready_o     = rqe_valid_i;
  assign srq_arm_ready_o = srq_arm_valid_i;
  placement_events u_events (
    .clk_i, .rst_ni,
    .posted_valid_i, .posted_ready_o,
    .posted_qpn_i (posted_i.rqn.number),
    .posted_epoch_i,
    .overrun_i,
    .flush_valid_i, .flush_ready_o, .flush_i,
    .answered_valid_i, .answered_ready_o, .answered_i,
    .read_issued_valid_i, .read_issued_ready_o, .read_issued_i,
    .row_ready_i  (event_row_ready_i),
    .row_ask_o    (event_row_ask_o),
    .row_index_o  (event_row_index_o),
    .row_tag_o    (event_row_tag_o),
    .row_valid_i  (event_row_valid_i),
    .row_tag_i    (event_row_tag_i),
    .row_i        (event_row_i),
    .executes_o   (executes),
    .qpn_o        (event_qpn),
    .write_o      (event_write_o),
    .state_o      (event_state_o),
    .read_o       (read_now),
    .issued_o     (reads_push_issued_o),
    .flush_o      (rq_end_o),
    .flush_cq_o   (rq_end_cq_o),
    .about_qpn_i  (qpn),
    .about_o      (about),
    .report_o     (report),
    .report_qpn_o (report_qpn),
    .reported_i   (event_ready_i)
  );
  assign event_row_drop_o  = executes;
  assign reads_push_o      = read_now;
  assign rq_end_qpn_o      = event_qpn;

  // The segment under way.
  localparam int unsigned Elements = 32'(rnic_messages_pkg::MaxSge);
  logic                                              free, places, finishes;
  rnic_messages_pkg::placed_segment_t                record, the_end;
  logic [Elements-1:0]                               pieces_used;
  logic [Elements*rnic_ddp_pkg::MemoryPieceBits-1:0] pieces;
  logic [31:0]                                       payload_at;
  placement_writer u_writer (
    .clk_i, .rst_ni,
    .free_o  (free),
    .begin_i (places || finishes),
    .record_i(finishes ? the_end : record),
    .use_i   (places ? pieces_used : '0),
    .pieces_i(pieces),
    .offset_i(payload_at),
    .unused_valid_i, .unused_take_o, .unused_i,
    .dma_ready_i, .dma_valid_o, .dma_o,
    .out_ready_i, .out_valid_o, .out_o
  );

  // The incoming segment is judged with its last beat, once the writer is free for it.
  logic                                offered, judges, told, from_sctp, taken_last, waiting_q, mpa_header, sctp_header;
  rnic_stream_pkg::fpdu_beat_t         beat;
  logic [31:0]                         fpdu_at;  // in its buffer
  rnic_ddp_pkg::ddp_segment_t          segment, mpa_segment, sctp_segment;
  rnic_messages_pkg::failed_segment_t  failed, told_failed;
  rnic_messages_pkg::read_request_t    read_request;
  rnic_messages_pkg::atomic_request_t  atomic_request;
  rnic_messages_pkg::atomic_response_t atomic_response;
  rnic_messages_pkg::terminate_cause_t told_cause;
  logic [63:0]                         immediate;
  assign judges = offered && free && event_ready_i && !report && !(one_port_i && executes && event_qpn != qpn);
  fpdu_select #(.BeatBytes(BeatBytes)) u_select (
    .clk_i, .rst_ni,
    .in_valid_i, .in_ready_o, .in_i, .in_data_i, .in_offset_i,
    .sctp_in_valid_i, .sctp_in_ready_o, .sctp_in_i, .sctp_in_data_i, .sctp_in_offset_i,
    .mpa_header_o     (mpa_header),
    .mpa_segment_o    (mpa_segment),
    .sctp_header_o    (sctp_header),
    .sctp_segment_o   (sctp_segment),
    .valid_o          (offered),
    .sctp_o           (from_sctp),
    .judged_i         (judges),
    .take_i           (taken_last),
    .waits_i          (waiting_q),
    .beat_o           (beat),
    .at_o             (fpdu_at),
    .segment_o        (segment),
    .failed_o         (failed),
    .read_request_o   (read_request),
    .atomic_request_o (atomic_request),
    .atomic_response_o(atomic_response),
    .immediate_o      (immediate),
    .told_o           (told),
    .told_cause_o     (told_cause),
    .told_failed_o    (told_failed)
  );

  // The STags of the segments that come in, and of the one that is judged.
  logic                               mpa_asks, sctp_asks, mpa_there, sctp_there, need, there;
  rnic_ddp_pkg::stag_list_t           list;
  rnic_messages_pkg::stag_row_t       stag;
  rnic_messages_pkg::stag_context_t   region;
  logic [6*rnic_messages_pkg::StagContextBits-1:0] scattered;
  segment_stags u_mpa_stags (
    .clk_i, .rst_ni,
    .busy_o           (mpa_asks),
    .header_i         (mpa_header),
    .ends_i           (in_valid_i && in_i.ends),
    .segment_i        (mpa_segment),
    .done_i           (in_ready_o && in_i.last),
    .peek_o           (mpa_peek_o),
    .peek_there_i     (mpa_peek_there_i),
    .peek_i           (mpa_peek_i),
    .need_i           (need && !from_sctp),
    .list_i           (list),
    .there_o          (mpa_there),
    .stag_ready_i     (mpa_stag_ready_i),
    .stag_ask_o       (mpa_stag_ask_o),
    .stag_index_o     (mpa_stag_index_o),
    .stag_valid_i     (mpa_stag_valid_i),
    .stag_i           (mpa_stag_i.stag),
    .stag_drop_o      (mpa_stag_drop_o),
    .region_ready_i   (mpa_region_ready_i),
    .region_ask_o     (mpa_region_ask_o),
    .region_index_o   (mpa_region_index_o),
    .region_valid_i   (mpa_region_valid_i),
    .region_row_i     (mpa_region_row_i),
    .region_drop_o    (mpa_region_drop_o),
    .scatter_ready_i  (mpa_scatter_ready_i),
    .scatter_ask_o    (mpa_scatter_ask_o),
    .scatter_index_o  (mpa_scatter_index_o),
    .scatter_valid_i  (mpa_scatter_valid_i),
    .scatter_keep_o   (mpa_scatter_keep_o),
    .scatter_drop_o   (mpa_scatter_drop_o),
    .scatter_release_o(mpa_scatter_release_o)
  );
  segment_stags u_sctp_stags (
    .clk_i, .rst_ni,
    .busy_o           (sctp_asks),
    .header_i         (sctp_header),
    .ends_i           (sctp_in_valid_i && sctp_in_i.ends),
    .segment_i        (sctp_segment),
    .done_i           (sctp_in_ready_o && sctp_in_i.last),
    .peek_o           (sctp_peek_o),
    .peek_there_i     (sctp_peek_there_i),
    .peek_i           (sctp_peek_i),
    .need_i           (need && from_sctp),
    .list_i           (list),
    .there_o          (sctp_there),
    .stag_ready_i     (sctp_stag_ready_i),
    .stag_ask_o       (sctp_stag_ask_o),
    .stag_index_o     (sctp_stag_index_o),
    .stag_valid_i     (sctp_stag_valid_i),
    .stag_i           (sctp_stag_i.stag),
    .stag_drop_o      (sctp_stag_drop_o),
    .region_ready_i   (sctp_region_ready_i),
    .region_ask_o     (sctp_region_ask_o),
    .region_index_o   (sctp_region_index_o),
    .region_valid_i   (sctp_region_valid_i),
    .region_row_i     (sctp_region_row_i),
    .region_drop_o    (sctp_region_drop_o),
    .scatter_ready_i  (sctp_scatter_ready_i),
    .scatter_ask_o    (sctp_scatter_ask_o),
    .scatter_index_o  (sctp_scatter_index_o),
    .scatter_valid_i  (sctp_scatter_valid_i),
    .scatter_keep_o   (sctp_scatter_keep_o),
    .scatter_drop_o   (sctp_scatter_drop_o),
    .scatter_release_o(sctp_scatter_release_o)
  );
  assign there     = from_sctp ? sctp_there : mpa_there;
  assign stag      = from_sctp ? sctp_stag_i : mpa_stag_i;
  assign region    = from_sctp ? sctp_region_i : mpa_region_i;
  assign scattered = from_sctp ? sctp_scatter_i : mpa_scatter_i;

  // The queue pairs of the segments that come in, and of the one that is judged.
  logic [31:0] mpa_qpn, sctp_qpn;
  segment_qp u_mpa_qp (
    .clk_i, .rst_ni,
    .header_i   (mpa_header),
    .beat_qpn_i (in_i.qpn),
    .done_i     (in_ready_o && in_i.last),
    .qpn_o      (mpa_qpn),
    .row_ready_i(mpa_row_ready_i),
    .row_ask_o  (mpa_row_ask_o),
    .row_drop_o (mpa_row_drop_o)
  );
  segment_qp u_sctp_qp (
    .clk_i, .rst_ni,
    .header_i   (sctp_header),
    .beat_qpn_i (sctp_in_i.qpn),
    .done_i     (sctp_in_ready_o && sctp_in_i.last),
    .qpn_o      (sctp_qpn),
    .row_ready_i(sctp_row_ready_i),
    .row_ask_o  (sctp_row_ask_o),
    .row_drop_o (sctp_row_drop_o)
  );
  assign mpa_row_index_o  = mpa_qpn;
  assign sctp_row_index_o = sctp_qpn;
  assign qpn              = from_sctp ? sctp_qpn : mpa_qpn;
  assign qpn_o            = qpn;

  // Whether the stream still goes on (RFC 5041 section 7.1: segments after its end are dropped silently). An event of this
  // cycle comes first, and those that wait for their row as well.
  logic                           row_waits, known, over, mpa_ok, now_changed;
  rnic_messages_pkg::rx_row_t     row;
  rnic_messages_pkg::rx_context_t qp;
  rnic_messages_pkg::qp_rx_t      before_event, stream;
  assign row         = from_sctp ? sctp_row_i : mpa_row_i;
  assign qp          = row.qp;
  assign row_waits   = judges && (!(from_sctp ? sctp_row_valid_i : mpa_row_valid_i) || about);
  assign now_changed = event_write_o && event_qpn == qpn;
  assign stream      = now_changed ? event_state_o : before_event;
  rx_current u_before_event (
    .row_i  (row),
    .state_o(before_event)
  );
  assign known       = judges && !row_waits && (from_sctp ? sctp_row_ok_i : mpa_row_ok_i) && qp.flow == beat.flow &&
                       qp.epoch[7:0] == beat.life;
  assign over        = !qp.valid || qp.state == rnic_messages_pkg::QpTerminate || qp.state == rnic_messages_pkg::QpError ||
                       stream.stream == rnic_messages_pkg::RxStopped;
  assign mpa_ok      = beat.crc_ok && beat.marker_ok;

  // Outstanding Reads. One of this cycle's event is the oldest if there is no other.
  logic                            old_reads, new_read;
  rnic_messages_pkg::read_issued_t oldest;
  assign old_reads = stream.reads.size != '0;
  assign new_read  = read_now && now_changed;
  assign oldest    = !old_reads ? reads_push_issued_o : from_sctp ? sctp_oldest_i : mpa_oldest_i;

  logic live, late, asks, needs, waits, fetch_waits, tagged_waits, untagged_waits, absorbs, sends, invalidates, scatter_long, scatter_error, tagged_error, untagged_error;
  rnic_messages_pkg::terminate_cause_t               tagged_cause, untagged_cause;
  rnic_ddp_pkg::memory_piece_t                       tagged_piece;
  logic [Elements-1:0]                               elements;
  logic [Elements*rnic_ddp_pkg::MemoryPieceBits-1:0] element_pieces;
  assign live     = known && !over && mpa_ok && !late && !beat.ends;
  assign late     = !beat.ends && stream.stream == rnic_messages_pkg::RxEnded;  // impossible on TCP (RFC 5041 section 6.2), and SCTP prevents it
  assign stag_o   = segment.stag;
  tagged_check u_tagged (
    .segment_i   (segment),
    .qpn_i       (qpn),
    .qp_i           (qp),
    .there_i     (there),
    .stag_i      (stag.stag),
    .region_i    (region),
    .read_i      (old_reads || new_read),
    .oldest_i    (oldest),
    .read_bytes_i(stream.read_bytes),
    .wait_o      (tagged_waits),
    .error_o     (tagged_error),
    .cause_o     (tagged_cause),
    .piece_o     (tagged_piece)
  );
  scatter_list u_scatter (
    .wqe_i   (rq_front_i.wqe),
    .pd_i    (qp.pd),
    .offset_i(stream.offset),
    .bytes_i (segment.payload),
    .list_o  (list),
    .stags_i (scattered),
    .use_o   (elements),
    .pieces_o(element_pieces),
    .long_o  (scatter_long),
    .error_o (scatter_error)
  );
  untagged_check u_untagged (
    .segment_i      (segment),
    .qpn_i          (qpn),
    .qp_i           (qp),
    .stream_i       (stream),
    .full_i         (stream.requests >= qp.ird),
    .ask_o          (asks),
    .next_i         (rq_next_i),
    .readable_i     (rq_front_i.ok && rq_front_i.wqe.num_sge <= 8'(rnic_messages_pkg::MaxSge)),
    .long_i         (scatter_long),
    .need_o         (needs),
    .there_i        (there),
    .scatter_error_i(scatter_error),
    .stag_i         (stag.stag),
    .region_i       (region),
    .windows_i      (stag.windows != '0),
    .absorb_o       (absorbs),
    .send_o         (sends),
    .invalidate_o   (invalidates),
    .fetch_wait_o   (fetch_waits),
    .wait_o         (untagged_waits),
    .error_o        (untagged_error),
    .cause_o        (untagged_cause)
  );
  assign rq_next_o      = live && !segment.is_tagged && asks;
  assign need           = rq_next_o && needs;
  assign waits          = segment.is_tagged ? tagged_waits : untagged_waits;

  // The verdict: place, drop, stop the stream, or wait. The peer's FIN or session Terminate is always passed on; a FIN in
  // the middle of an FPDU is an error. TCP reports an RST to the firmware, once it has passed.
  logic stops, in_order, resets, waiting_d;
  always_comb begin
    finishes   = judges && beat.ends && !row_waits;
    resets     = beat.ends && segment.bytes == rnic_messages_pkg::StreamEndReset;
    in_order   = known && !over && beat.ends && !resets && mpa_ok;
    stops      = known && !over && !resets && (!mpa_ok || late || (!beat.ends && (segment.is_tagged ? tagged_error : untagged_error)));
    waiting_d  = judges ? row_waits || (live && waits) : waiting_q;
    places     = live && !stops && !waiting_d;
    taken_last = judges && !waiting_d;
  end

  always_comb begin
    event_valid_o = (report && event_ready_i) || stops;
    event_o       = '0;
    if (report) begin
      event_o.kind  = rnic_messages_pkg::QpEventLocalError;
      event_o.qpn   = report_qpn;
      event_o.cause = rnic_messages_pkg::RdmaLocalCatastrophic;
    end else begin
      event_o.kind = rnic_messages_pkg::QpEventStreamError;
      event_o.qpn  = qpn;
      if (late || beat.ends) begin
        event_o.cause = rnic_messages_pkg::MpaConnectionLost;
      end else if (!mpa_ok) begin
        event_o.cause = beat.crc_ok ? rnic_messages_pkg::MpaMarkerMismatch : rnic_messages_pkg::MpaCrcMismatch;
      end else begin
        event_o.cause  = segment.is_tagged ? tagged_cause : untagged_cause;
        event_o.failed = failed;
      end
    end
  end

  // A placed segment advances its message; the last one ends it.
  logic        terminates, responds, ends, holds, opens;
  logic [31:0] payload, message;  // octets of the segment, and of its message so far
  assign terminates = !segment.is_tagged && segment.opcode == rnic_messages_pkg::OpTerminate;
  assign responds   = segment.is_tagged && segment.opcode == rnic_messages_pkg::OpReadResponse;
  assign ends       = places && !segment.is_tagged && segment.last && !terminates;
  assign payload    = {16'd0, segment.payload};
  assign message    = (segment.is_tagged ? stream.tagged_bytes : stream.offset) + payload;
  always_comb begin
    state_o = stream;
    if (places) begin
      if (segment.is_tagged) state_o.tagged_bytes = segment.last ? '0 : message;
      else if (sends)        state_o.offset       = segment.last ? '0 : message;
      if (responds)          state_o.read_bytes   = segment.last ? '0 : stream.read_bytes + payload;
    end
    if (holds)    state_o.requests = stream.requests + 16'd1;
    if (stops || (places && terminates)) state_o.stream = rnic_messages_pkg::RxStopped;
    else if (in_order)                   state_o.stream = rnic_messages_pkg::RxEnded;
    else if (opens)                      state_o.stream = rnic_messages_pkg::RxBegun;
    if (ends) begin
      case (segment.qn)
        rnic_ddp_pkg::QnSend:    state_o.msn_send     = stream.msn_send + 32'd1;
        rnic_ddp_pkg::QnRequest: state_o.msn_request  = stream.msn_request + 32'd1;
        default:                 state_o.msn_response = stream.msn_response + 32'd1;
      endcase
    end
  end
  assign opens          = live && !terminates && stream.stream == rnic_messages_pkg::RxNew;
  assign holds          = places && !segment.is_tagged && segment.qn == rnic_ddp_pkg::QnRequest;
  assign places_o       = places || finishes;
  assign state_write_o  = places || in_order || stops;
  assign reads_pop_o    = places && responds && segment.last;
  assign rq_use_o       = ends && asks;
  assign stag_end_o     = ends && sends && invalidates;
  assign begun_o        = places && pieces_used != '0;

  // The target, and the reports.
  assign payload_at = fpdu_at + 32'(rnic_ddp_pkg::UlpduLengthBytes) +
                      (segment.is_tagged ? 32'(rnic_ddp_pkg::TaggedBytes) : 32'(rnic_ddp_pkg::UntaggedBytes));
  always_comb begin
    pieces_used = segment.is_tagged ? {{Elements - 1{1'b0}}, segment.payload != '0 && !beat.placed} : sends ? elements : '0;
    pieces      = element_pieces;
    if (segment.is_tagged) pieces[rnic_ddp_pkg::MemoryPieceBits-1:0] = tagged_piece;
  end
  placement_record u_record (
    .segment_i        (segment),
    .qpn_i            (qpn),
    .epoch_i          (qp.epoch),
    .pd_i             (qp.pd),
    .recv_cq_i        (qp.recv_cq),
    .absorb_i         (absorbs),
    .send_i           (sends),
    .awaits_write_i   (pieces_used != '0),
    .opens_i          (opens),
    .message_i        (message),
    .use_i            (rq_use_o),
    .wr_id_i          (rq_front_i.wqe.wr_id),
    .failed_i         (failed),
    .read_request_i   (read_request),
    .atomic_request_i (atomic_request),
    .atomic_response_i(atomic_response),
    .immediate_i      (immediate),
    .told_i           (told),
    .told_cause_i     (told_cause),
    .told_failed_i    (told_failed),
    .record_o         (record)
  );

  always_comb begin
    the_end          = '0;
    the_end.opcode   = rnic_messages_pkg::OpSend;
    the_end.ended    = 1'b1;
    the_end.in_order = in_order;
    the_end.flow     = beat.flow;
    the_end.llp      = from_sctp;
    if (known && !over) begin
      the_end.qpn   = qpn;
      the_end.epoch = qp.epoch;
    end
  end

  // Reports about the rings' requests, one of each kind a cycle.
  assign rqe_taken_valid_o = freed_valid_i && rqe_taken_ready_i;
  assign rqe_taken_o       = freed_i;
  assign srq_event_valid_o = shared_event_valid_i && srq_event_ready_i;
  assign srq_event_o       = shared_event_i;

  // While a receive request or rows are awaited, the queue pair's context may end the wait as well.
  logic moves_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
      moves_q   <= 1'b0;
    end else begin
      waiting_q <= waiting_d;
      moves_q   <= posted_ready_o || rqe_ready_o || srq_arm_ready_o || read_issued_ready_o || flush_ready_o || answered_ready_o ||
                   executes || event_valid_o || dma_valid_o ||
                   out_valid_o || unused_take_o || in_ready_o || sctp_in_ready_o || rqe_taken_valid_o || srq_event_valid_o;
    end
  end
  assign busy_o = moves_q || waiting_q || mpa_asks || sctp_asks;

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Tagged_C          : cover (places && segment.is_tagged);
      Send_C            : cover (places && !segment.is_tagged && sends);
      Placed_C          : cover (places && beat.placed);
      NoOctets_C        : cover (places && pieces_used == '0);
      SeveralPieces_C   : cover (places && pieces_used > 1);
      TaggedError_C     : cover (live && segment.is_tagged && tagged_error);
      UntaggedError_C   : cover (live && !segment.is_tagged && untagged_error);
      MpaError_C        : cover (known && !over && !mpa_ok);
      Ends_C            : cover (in_order);
      Resets_C          : cover (finishes && resets && known && !over);
      EndsAmidAnFpdu_C  : cover (finishes && stops);
      EndsUnheard_C     : cover (finishes && !in_order && !stops);
      AfterTheFin_C     : cover (known && !over && late);
      AfterTheEnd_C     : cover (known && over);
      WaitsForRequest_C : cover (rq_next_o && fetch_waits);
      WaitsForStag_C    : cover (live && segment.is_tagged && waits);
      WaitsForScatter_C : cover (need && waits);
      Invalidates_C     : cover (stag_end_o);
      PeerTerminates_C  : cover (places && terminates);
      ReadEnds_C        : cover (reads_pop_o);
      ReadOfThisCycle_C : cover (places && responds && !old_reads && new_read);
      AtIrd_C           : cover (holds && state_o.requests == qp.ird);
      OverIrd_C         : cover (stops && segment.qn == rnic_ddp_pkg::QnRequest && !segment.is_tagged && stream.requests == qp.ird);
      WaitsForRow_C     : cover (row_waits && !about);
      WaitsForEvent_C   : cover (row_waits && about);
      JustChanged_C     : cover (state_write_o && now_changed);
      Overrun_C         : cover (event_valid_o && report);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("ddp_placement: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
