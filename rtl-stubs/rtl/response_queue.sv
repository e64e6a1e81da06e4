// Matches Atomic Responses to the Atomic Requests that wait for them: the twin of model/rnic/completion/response_queue.
// See response_queue.md there for the timing and the errors.
// In a cycle a write is reported out (written), a request comes (issued), and a response comes in, in this order. The QPs'
// states, their requests and the ring of writes under way lie outside, as contexts and STags do; of writes to one entry
// the last one holds.
module response_queue #(
  parameter int unsigned QpBits       = rnic_messages_pkg::QpBits,       // at most 2**QpBits queue pairs
  parameter int unsigned PositionBits = rnic_messages_pkg::RequestBits,  // at most 2**PositionBits requests of each
  parameter int unsigned WriteBits    = rnic_messages_pkg::WriteBits,    // at most 2**WriteBits writes under way
  localparam int unsigned StateBits   = 32 + PositionBits + (PositionBits + 1) + 1
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

  // Writes under way: queue pair and its epoch. The oldest one's, and that QP's epoch now.
  output logic [WriteBits-1:0]                  under_way_index_o,
  input  logic [31+QpBits:0]                    under_way_i,
  output logic [QpBits-1:0]                     written_index_o,
  input  logic [31:0]                           written_epoch_i,
  output logic                                  under_way_write_o,
  output logic [WriteBits-1:0]                  under_way_write_index_o,
  output logic [31+QpBits:0]                    under_way_o,

  // State and context of the QP of issued_i and of in_i.
  output logic [QpBits-1:0]                     issued_index_o,
  input  logic [31:0]                           issued_epoch_i,
  input  logic [StateBits-1:0]                  issued_state_i,
  output logic                                  issued_write_o,
  output logic [StateBits-1:0]                  issued_state_o,
  output logic [QpBits-1:0]                     in_index_o,
  input  logic                                  in_exists_i,
  input  logic [31:0]                           in_pd_i,
  input  logic [31:0]                           in_epoch_i,
  input  logic [StateBits-1:0]                  in_state_i,
  output logic                                  in_write_o,
  output logic [StateBits-1:0]                  in_state_o,

  // Requests, by QP and position.
  output logic [QpBits+PositionBits-1:0]        request_index_o,
  input  rnic_messages_pkg::atomic_issued_t     request_i,
  output logic                                  request_write_o,
  output logic [QpBits+PositionBits-1:0]        request_write_index_o,
  output rnic_messages_pkg::atomic_issued_t     request_o,

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
  typedef struct packed {
    logic [31:0]             epoch;
    logic [PositionBits-1:0] head;     // the position of the oldest request
    logic [PositionBits:0]   count;
    logic                    stopped;  // after an error
  } state_t;
  localparam logic [2*PositionBits+1:0] Fresh = '0;  // head, count, stopped

  // The states as they are now: if the QP number was reused everything is reset.
  state_t issued_now, in_now;
  always_comb begin
    issued_now = issued_state_i;
    in_now     = in_state_i;
    if (issued_now.epoch != issued_epoch_i) issued_now = {issued_epoch_i, Fresh};
    if (in_now.epoch != in_epoch_i)         in_now     = {in_epoch_i, Fresh};
  end

  // Written: nothing overtakes the value any more. The request is complete, and one fewer counts against ORD, if its QP
  // is still the same.
  logic [WriteBits-1:0] first_d, first_q;
  logic [WriteBits:0]   writes_d, writes_q;
  logic                 complete, told;
  logic [31:0]          epoch_then;
  assign under_way_index_o             = first_q;
  assign {written_index_o, epoch_then} = under_way_i;
  assign written_ready_o               = done_ready_i && unblock_ready_i;
  assign complete                      = written_valid_i && written_ready_o;
  assign told                          = complete && epoch_then == written_epoch_i;
  assign done_valid_o                  = told;
  assign done_o.qpn                    = 32'(written_index_o);
  assign done_o.ok                     = written_i.ok;
  assign unblock_valid_o               = told;
  assign unblock_o.kind                = rnic_messages_pkg::TxUnblockReadDone;
  assign unblock_o.qpn                 = 32'(written_index_o);

  // Issued.
  state_t issued_next;
  always_comb begin
    issued_next       = issued_now;
    issued_next.count = issued_now.count + 1'b1;
  end
  assign issued_ready_o        = 1'b1;
  assign issued_index_o        = issued_i.qpn[QpBits-1:0];
  assign issued_write_o        = issued_valid_i;
  assign issued_state_o        = issued_next;
  assign request_write_o       = issued_valid_i;
  assign request_write_index_o = {issued_index_o, issued_now.head + issued_now.count[PositionBits-1:0]};
  assign request_o             = issued_i;

  // In: the n-th response answers the n-th request, and its identifier says so too.
  logic                              matched, there, take, looks, none, wrong, gone, found;
  state_t                            in_before, in_next;
  rnic_messages_pkg::atomic_issued_t front;
  logic                              same;  // the QP of issued_i
  assign in_index_o      = in_i.qpn[QpBits-1:0];
  assign same            = issued_valid_i && issued_index_o == in_index_o;
  assign in_before       = same ? issued_next : in_now;
  assign request_index_o = {in_index_o, in_before.head};
  assign front           = same && issued_now.count == 0 ? issued_i : request_i;
  assign in_ready_o      = dma_ready_i && event_ready_i && there;
  assign take            = in_valid_i && in_ready_o;
  assign matched         = in_valid_i && in_exists_i && !in_before.stopped && in_before.count != 0 &&
                           front.request_id == in_i.response.request_id;
  assign looks           = take && in_exists_i && !in_before.stopped;
  assign none            = looks && in_before.count == 0;
  assign wrong           = looks && !none && front.request_id != in_i.response.request_id;
  always_comb begin
    in_next = in_before;
    if (looks && !none) begin
      in_next.head  = in_before.head + 1'b1;
      in_next.count = in_before.count - 1'b1;
    end
    if (none || wrong || gone) in_next.stopped = 1'b1;
  end
  assign in_write_o = take;
  assign in_state_o = in_next;

  assign event_valid_o = none || wrong || gone;
  always_comb begin
    event_o        = '0;
    event_o.kind   = gone ? rnic_messages_pkg::QpEventLocalError : rnic_messages_pkg::QpEventStreamError;
    event_o.qpn    = in_i.qpn;
    event_o.cause  = none  ? rnic_messages_pkg::DdpInvalidMsnNoBuffer :
                     wrong ? rnic_messages_pkg::RdmaOperationUnspecified : rnic_messages_pkg::RdmaLocalCatastrophic;
    event_o.failed = in_i.segment;
  end

  // The local buffer: eight octets of the region that its key names.
  logic        named, covers;
  logic [31:0] key;
  logic [63:0] base, distance;
  assign key          = front.sink.lkey;
  assign stag_index_o = key[31:8];
  assign named        = stag_i.valid && stag_i.key == key[7:0];
  assign base         = stag_i.zero_based ? '0 : stag_i.address;
  assign distance     = front.sink.address - base;
  assign covers       = named && stag_i.kind == rnic_messages_pkg::StagRegion && stag_i.pd == in_pd_i &&
                        front.sink.address >= base && stag_i.length >= 64'd8 && distance <= stag_i.length - 64'd8 &&
                        (stag_i.access & rnic_messages_pkg::LocalWrite) != 0;
  assign gone         = looks && !none && !wrong && !covers;
  assign found        = looks && !none && !wrong && covers;

  // Only a response that answers a request needs it. If its queue pair is another one meanwhile, the row that was asked for is
  // dropped when it comes.
  logic asked_d, asked_q, stale, waits;
  assign stale       = asked_q && stag_valid_i && (!matched || stag_row_i != stag_index_o);
  assign waits       = asked_q && !stale;
  assign there       = waits ? stag_valid_i : !matched;
  assign stag_ask_o  = matched && !waits && stag_ready_i;
  assign stag_drop_o = stale || (waits && take);
  assign asked_d     = stag_ask_o || (waits && !take);

  assign dma_valid_o = found;
  assign dma_value_o = in_i.response.original;
  always_comb begin
    dma_o         = '0;
    dma_o.address   = stag_i.bus + distance;
    dma_o.bytes     = 32'd8;
    dma_o.notify    = 1'b1;
    dma_o.page_list = stag_i.log_page == 0 ? '0 : {stag_i.first_page[19:0], stag_i.log_page};
  end

  assign under_way_write_o       = found;
  assign under_way_write_index_o = first_q + writes_q[WriteBits-1:0];
  assign under_way_o             = {in_index_o, in_before.epoch};
  assign first_d                 = first_q + WriteBits'(complete);
  assign writes_d                = writes_q - (WriteBits + 1)'(complete) + (WriteBits + 1)'(found);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      writes_q <= '0;
      asked_q  <= 1'b0;
    end else begin
      first_q  <= first_d;
      writes_q <= writes_d;
      asked_q  <= asked_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      MatchedOnce_A  : assert (!found || request_index_o[PositionBits+:QpBits] == front.qpn[QpBits-1:0]);
      OneOutcome_A   : assert (!(event_valid_o && dma_valid_o));
      WritesFit_A    : assert (writes_d <= (WriteBits + 1)'(2 ** WriteBits));
      WriteKnown_A   : assert (!complete || (writes_q != 0 && written_i.tag == 0));
      RequestsFit_A  : assert (!issued_valid_i || issued_next.count <= (PositionBits + 1)'(2 ** PositionBits));
      QpnFits_A      : assert (!in_valid_i || in_i.qpn >> QpBits == 0);
      IssuedFits_A   : assert (!issued_valid_i || issued_i.qpn >> QpBits == 0);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      None_C                   : cover (none);
      OtherRequest_C           : cover (wrong);
      BufferGone_C             : cover (gone);
      InTheCycleOfItsRequest_C : cover (found && same && issued_now.count == '0);
      InPages_C                : cover (found && dma_o.page_list != '0);
      AfterTheEnd_C            : cover (take && in_exists_i && in_before.stopped);
      ReusedQp_C               : cover (told == 1'b0 && complete);
      IssuesOnReusedQp_C       : cover (issued_valid_i && issued_state_i[StateBits-1-:32] != issued_epoch_i);
      TakesOnReusedQp_C        : cover (looks && in_state_i[StateBits-1-:32] != in_epoch_i);
      DoneStalls_C             : cover (written_valid_i && !written_ready_o);
      Stalled_C                : cover (in_valid_i && there && !in_ready_o);
      OtherRow_C               : cover (stale);
    end
  end

  if (QpBits < 1 || QpBits > 16 || PositionBits < 1 || PositionBits > 14 || WriteBits < 1 || WriteBits > 16) begin : gen_check
    $error("response_queue: QpBits and WriteBits must be 1 to 16, PositionBits 1 to 14");
  end
endmodule
