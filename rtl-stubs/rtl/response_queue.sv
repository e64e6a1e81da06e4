// Matches Atomic Responses to the Atomic Requests that wait for them: the twin of model/rnic/completion/response_queue.
// See response_queue.md there for the timing and the errors.
// In a cycle a write is reported out (written), a request is taken and one executed, and a response is judged and one taken, in
// this order. The QPs' rows lie in a table, the elements of their lists and the ring of writes under way outside.
module response_queue #(
  parameter int unsigned WriteBits = rnic_messages_pkg::WriteBits,  // at most 2**WriteBits writes under way
  parameter int unsigned Places    = 16,                            // for requests and for responses whose row is being read
  localparam int unsigned TagBits  = $clog2(Places)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  issued_valid_i,
  output logic                                  issued_ready_o,
  input  rnic_messages_pkg::atomic_issued_t     issued_i,
  input  logic                                  in_valid_i,
  output logic                                  in_ready_o,
  input  rnic_messages_pkg::delivered_atomic_t  in_i,
  input  logic                                  dma_ready_i,
  output logic                                  dma_valid_o,
  output rnic_messages_pkg::dma_write_request_t dma_o,
  output logic [63:0]                           dma_value_o,
  input  logic                                  written_valid_i,
  output logic                                  written_ready_o,
  input  rnic_messages_pkg::dma_write_done_t    written_i,
  input  logic                                  done_ready_i,
  output logic                                  done_valid_o,
  output rnic_messages_pkg::atomic_done_t       done_o,
  input  logic                                  unblock_ready_i,
  output logic                                  unblock_valid_o,
  output rnic_messages_pkg::tx_unblock_t        unblock_o,
  input  logic                                  event_ready_i,
  output logic                                  event_valid_o,
  output rnic_messages_pkg::qp_event_t          event_o,
  output logic                                  busy_o,          // it may do something without anything new on its links

  // Writes under way: queue pair and the use of its number. The oldest one's.
  output logic [WriteBits-1:0]                  under_way_index_o,
  input  logic [63:0]                           under_way_i,
  output logic                                  under_way_write_o,
  output logic [WriteBits-1:0]                  under_way_write_index_o,
  output logic [63:0]                           under_way_o,

  // The table of rows: one is asked for and comes later, with the tag of its request or response, in front until it is dropped.
  input  logic                                  one_port_i,      // one row a cycle can be changed
  input  logic                                  request_row_ready_i,
  output logic                                  request_row_ask_o,
  output logic [31:0]                           request_row_index_o,
  output logic [TagBits-1:0]                    request_row_tag_o,
  input  logic                                  request_row_valid_i,
  input  logic [TagBits-1:0]                    request_row_tag_i,
  input  rnic_messages_pkg::orq_row_t           request_row_i,
  output logic                                  request_row_drop_o,
  output logic                                  request_write_o, // the state in that row, whose list has one more:
  output rnic_messages_pkg::qp_orq_t            request_state_o,
  output rnic_messages_pkg::atomic_issued_t     request_o,
  input  logic                                  response_row_ready_i,
  output logic                                  response_row_ask_o,
  output logic [31:0]                           response_row_index_o,
  output logic [TagBits-1:0]                    response_row_tag_o,
  input  logic                                  response_row_valid_i,
  input  logic [TagBits-1:0]                    response_row_tag_i,
  input  rnic_messages_pkg::orq_row_t           response_row_i,
  output logic                                  response_row_drop_o,
  output logic                                  response_write_o,
  output rnic_messages_pkg::qp_orq_t            response_state_o,
  output logic                                  response_pop_o,
  input  rnic_messages_pkg::atomic_issued_t     oldest_i,        // in the list of that row, if there is one

  // The table of STags, of which one row is asked for at a time: the entry that a local key points at, all zeros outside
  // the table. It comes later, in front until it is dropped.
  input  logic                                  stag_ready_i,  // a row can be asked for
  output logic                                  stag_ask_o,
  output logic [23:0]                           stag_index_o,
  input  logic                                  stag_valid_i,  // a row is there, this one:
  input  logic [23:0]                           stag_row_i,
  input  rnic_messages_pkg::stag_context_t      stag_i,
  output logic                                  stag_drop_o
);
  // Written: nothing overtakes the value any more. The request is complete, and one fewer counts against ORD.
  logic [WriteBits-1:0] first_d, first_q;
  logic [WriteBits:0]   writes_d, writes_q;
  logic                 complete;
  logic [31:0]          written_qpn, written_epoch;
  assign under_way_index_o             = first_q;
  assign {written_qpn, written_epoch}  = under_way_i;
  assign written_ready_o               = done_ready_i && unblock_ready_i;
  assign complete                      = written_valid_i && written_ready_o;
  assign done_valid_o                  = complete;
  assign done_o.qpn                    = written_qpn;
  assign done_o.epoch                  = written_epoch;
  assign done_o.ok                     = written_i.ok;
  assign unblock_valid_o               = complete;
  assign unblock_o.kind                = rnic_messages_pkg::TxUnblockReadDone;
  assign unblock_o.qpn                 = written_qpn;
  assign unblock_o.epoch               = written_epoch;

  // Requests. None waits for anything but its row.
  localparam int unsigned RequestBits = $bits(issued_i);
  logic [31:0] request_qpn, request_epoch;
  logic [31:0] qpn;  // of the response that is judged
  logic        request_current, about, issued_ready;
  assign issued_ready_o      = issued_valid_i && issued_ready;
  assign request_row_index_o = issued_i.qpn;
  row_events #(
    .DataBits(RequestBits),
    .Places  (Places)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .ready_o    (issued_ready),
    .take_i     (issued_valid_i),
    .qpn_i      (issued_i.qpn),
    .epoch_i    (issued_i.epoch),
    .data_i     (issued_i),
    .row_ready_i(request_row_ready_i),
    .row_ask_o  (request_row_ask_o),
    .row_tag_o  (request_row_tag_o),
    .row_tag_i  (request_row_tag_i),
    .qpn_o      (request_qpn),
    .epoch_o    (request_epoch),
    .data_o     (request_o),
    .drop_i     (request_row_valid_i),
    .about_qpn_i(qpn),
    .about_o    (about)
  );
  // The state as it is now: if the QP number was reused nothing is left.
  rnic_messages_pkg::qp_orq_t request_now, now;
  always_comb begin
    request_now = request_row_i.state;
    now         = response_row_i.state;
    if (request_row_i.state.epoch != request_row_i.qp.epoch) begin
      request_now       = '0;
      request_now.epoch = request_row_i.qp.epoch;
    end
    if (response_row_i.state.epoch != response_row_i.qp.epoch) begin
      now       = '0;
      now.epoch = response_row_i.qp.epoch;
    end
  end
  assign request_current    = request_epoch == request_row_i.qp.epoch;
  assign request_row_drop_o = request_row_valid_i;
  assign request_write_o    = request_row_valid_i && request_current;
  assign request_state_o    = request_now;

  // Responses: the n-th one answers the n-th request, and its identifier says so too. One is judged when all requests of its QP
  // that have come are executed.
  localparam int unsigned ResponseBits = $bits(in_i);
  rnic_messages_pkg::delivered_atomic_t response;
  logic [31:0] response_epoch;
  logic        current, alive, judges, room, matched, there, take, looks, none, wrong, gone, found, in_ready, unused_about;
  assign in_ready_o           = in_valid_i && in_ready;
  assign response_row_index_o = in_i.qpn;
  row_events #(
    .DataBits  (ResponseBits),
    .Places    (Places),
    .DropsFirst(1'b1)
  ) u_responses (
    .clk_i,
    .rst_ni,
    .ready_o    (in_ready),
    .take_i     (in_valid_i),
    .qpn_i      (in_i.qpn),
    .epoch_i    (in_i.epoch),
    .data_i     (in_i),
    .row_ready_i(response_row_ready_i),
    .row_ask_o  (response_row_ask_o),
    .row_tag_o  (response_row_tag_o),
    .row_tag_i  (response_row_tag_i),
    .qpn_o      (qpn),
    .epoch_o    (response_epoch),
    .data_o     (response),
    .drop_i     (take),
    .about_qpn_i('0),
    .about_o    (unused_about)
  );
  assign current = response_epoch == response_row_i.qp.epoch;
  assign alive   = current && response_row_i.qp.valid && !now.stopped;
  assign judges  = response_row_valid_i && !about;
  assign room    = !current || (dma_ready_i && event_ready_i && !(one_port_i && request_write_o && request_qpn != qpn));
  assign matched = judges && alive && now.outstanding.size != '0 && oldest_i.request_id == response.response.request_id;
  assign take    = judges && there && room;
  assign looks   = take && alive;
  assign none    = looks && now.outstanding.size == '0;
  assign wrong   = looks && !none && oldest_i.request_id != response.response.request_id;
  always_comb begin
    response_state_o         = now;
    response_state_o.stopped = none || wrong || gone;
  end
  assign response_row_drop_o = take;
  assign response_write_o    = looks;
  assign response_pop_o      = looks && !none;

  assign event_valid_o = none || wrong || gone;
  always_comb begin
    event_o        = '0;
    event_o.kind   = gone ? rnic_messages_pkg::QpEventLocalError : rnic_messages_pkg::QpEventStreamError;
    event_o.qpn    = qpn;
    event_o.cause  = none  ? rnic_messages_pkg::DdpInvalidMsnNoBuffer :
                     wrong ? rnic_messages_pkg::RdmaOperationUnspecified : rnic_messages_pkg::RdmaLocalCatastrophic;
    event_o.failed = response.segment;
  end

  // The local buffer: eight octets of the region that its key names.
  logic        named, covers;
  logic [31:0] key;
  logic [63:0] base, distance;
  assign key          = oldest_i.sink.lkey;
  assign stag_index_o = key[31:8];
  assign named        = stag_i.valid && stag_i.key == key[7:0];
  assign base         = stag_i.zero_based ? '0 : stag_i.address;
  assign distance     = oldest_i.sink.address - base;
  assign covers       = named && stag_i.kind == rnic_messages_pkg::StagRegion && stag_i.pd == response.pd &&
                        oldest_i.sink.address >= base && stag_i.length >= 64'd8 && distance <= stag_i.length - 64'd8 &&
                        (stag_i.access & rnic_messages_pkg::LocalWrite) != 0;
  assign gone         = looks && !none && !wrong && !covers;
  assign found        = looks && !none && !wrong && covers;

  // Only a response that answers a request needs it. If its queue pair is gone meanwhile, the row that was asked for is dropped
  // when it comes.
  logic asked_d, asked_q, vain;
  assign vain        = asked_q && stag_valid_i && judges && !matched;
  assign there       = asked_q ? stag_valid_i : !matched;
  assign stag_ask_o  = matched && !asked_q && stag_ready_i;
  assign stag_drop_o = vain || (asked_q && found) || (asked_q && gone);
  assign asked_d     = stag_ask_o || (asked_q && !stag_drop_o);

  assign dma_valid_o = found;
  assign dma_value_o = response.response.original;
  always_comb begin
    dma_o           = '0;
    dma_o.address   = stag_i.bus + distance;
    dma_o.bytes     = 32'd8;
    dma_o.notify    = 1'b1;
    dma_o.page_list = stag_i.log_page == 0 ? '0 : {stag_i.first_page[19:0], stag_i.log_page};
  end

  assign under_way_write_o       = found;
  assign under_way_write_index_o = first_q + writes_q[WriteBits-1:0];
  assign under_way_o             = {qpn, now.epoch};
  assign first_d                 = first_q + WriteBits'(complete);
  assign writes_d                = writes_q - (WriteBits + 1)'(complete) + (WriteBits + 1)'(found);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      writes_q <= '0;
      asked_q  <= 1'b0;
      busy_o   <= 1'b0;
    end else begin
      first_q  <= first_d;
      writes_q <= writes_d;
      asked_q  <= asked_d;
      busy_o   <= request_row_ask_o || request_row_valid_i || response_row_ask_o || take || vain || (response_row_valid_i && about);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OfItsQp_A    : assert (!found || oldest_i.qpn == qpn);
      OneOutcome_A : assert (!(event_valid_o && dma_valid_o));
      WritesFit_A  : assert (writes_d <= (WriteBits + 1)'(2 ** WriteBits));
      WriteKnown_A : assert (!complete || (writes_q != 0 && written_i.tag == 0));
      ItsSink_A    : assert (!(found || gone) || stag_row_i == stag_index_o);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      None_C             : cover (none);
      OtherRequest_C     : cover (wrong);
      BufferGone_C       : cover (gone);
      WithItsRequest_C   : cover (response_row_valid_i && about);
      InPages_C          : cover (found && dma_o.page_list != '0);
      AfterTheEnd_C      : cover (take && current && response_row_i.qp.valid && now.stopped);
      EarlierUse_C       : cover (take && !current);
      IssuesOnReusedQp_C : cover (request_write_o && request_row_i.state.epoch != request_row_i.qp.epoch);
      IssuesEarlier_C    : cover (request_row_valid_i && !request_current);
      TakesOnReusedQp_C  : cover (looks && response_row_i.state.epoch != response_row_i.qp.epoch);
      DoneStalls_C       : cover (written_valid_i && !written_ready_o);
      Stalled_C          : cover (judges && there && !room);
      AskedInVain_C      : cover (vain);
    end
  end

  if (WriteBits < 1 || WriteBits > 16) begin : gen_check
    $error("response_queue: WriteBits must be 1 to 16");
  end
endmodule
