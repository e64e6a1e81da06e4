// Inbound Read Request queue: the twin of model/rnic/responder/irrq. See irrq.md there for the timing.
// In a cycle the QP whose turn it is hands on its oldest request (serve), the QP whose response has left may have its next
// turn (free), and a request comes in (accept), in this order, be they of one QP or of three. The QPs' states, their
// requests, and the ring of the QPs that wait for their turn lie outside; of writes to one entry the last one holds.
module irrq #(
  parameter int unsigned QpBits       = rnic_messages_pkg::QpBits,       // at most 2**QpBits queue pairs
  parameter int unsigned PositionBits = rnic_messages_pkg::RequestBits,  // at most 2**PositionBits requests of each
  localparam int unsigned StateBits   = 32 + PositionBits + (PositionBits + 1) + 3
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  rnic_messages_pkg::queued_request_t  in_i,
  input  logic                                sent_valid_i,
  output logic                                sent_ready_o,
  input  rnic_messages_pkg::read_response_sent_t sent_i,
  input  logic                                out_ready_i,
  output logic                                out_valid_o,
  output rnic_messages_pkg::queued_read_t     out_o,
  input  logic                                atomic_ready_i,
  output logic                                atomic_valid_o,
  output rnic_messages_pkg::queued_atomic_t   atomic_o,
  input  logic                                event_ready_i,
  output logic                                event_valid_o,
  output rnic_messages_pkg::qp_event_t        event_o,
  output logic                                busy_o,

  // The ring of QPs.
  output logic [QpBits-1:0]                   turn_index_o,
  input  logic [QpBits-1:0]                   turn_i,
  output logic                                free_turn_write_o,
  output logic [QpBits-1:0]                   free_turn_index_o,
  output logic [QpBits-1:0]                   free_turn_o,
  output logic                                accept_turn_write_o,
  output logic [QpBits-1:0]                   accept_turn_index_o,
  output logic [QpBits-1:0]                   accept_turn_o,

  // State and context of the QP that turn_i names, of sent_i's and of in_i's.
  output logic [QpBits-1:0]                   serve_index_o,
  input  logic [31:0]                         serve_epoch_i,
  input  logic [StateBits-1:0]                serve_state_i,
  output logic                                serve_write_o,
  output logic [StateBits-1:0]                serve_state_o,
  output logic [QpBits-1:0]                   free_index_o,
  input  logic [31:0]                         free_epoch_i,
  input  logic [StateBits-1:0]                free_state_i,
  output logic                                free_write_o,
  output logic [StateBits-1:0]                free_state_o,
  output logic [QpBits-1:0]                   accept_index_o,
  input  logic                                accept_exists_i,
  input  logic [15:0]                         accept_ird_i,
  input  logic [31:0]                         accept_epoch_i,
  input  logic [StateBits-1:0]                accept_state_i,
  output logic                                accept_write_o,
  output logic [StateBits-1:0]                accept_state_o,
  output logic [PositionBits:0]               accept_held_o,  // requests of this QP, this one included

  // Requests, by QP and position. Those of the last accept_held_o positions are kept when one is written.
  output logic [QpBits+PositionBits-1:0]      request_index_o,
  input  rnic_messages_pkg::queued_request_t  request_i,
  output logic                                request_write_o,
  output logic [QpBits+PositionBits-1:0]      request_write_index_o,
  output rnic_messages_pkg::queued_request_t  request_o
);
  typedef struct packed {
    logic [31:0]             epoch;
    logic [PositionBits-1:0] head;     // the position of the oldest request that waits
    logic [PositionBits:0]   count;
    logic                    busy;     // one was handed on and is being answered
    logic                    listed;   // among those that wait for their turn
    logic                    overrun;  // the peer broke the limit: the stream is over
  } state_t;

  localparam logic [2*PositionBits+1:0] Idle = '0;  // head, count, busy

  // The states as they are now: if the QP number was reused everything is reset, except its place in the ring.
  state_t serve_now, free_now, accept_now;
  always_comb begin
    serve_now  = serve_state_i;
    free_now   = free_state_i;
    accept_now = accept_state_i;
    if (serve_now.epoch != serve_epoch_i)   serve_now  = {serve_epoch_i, Idle, serve_now.listed, 1'b0};
    if (free_now.epoch != free_epoch_i)     free_now   = {free_epoch_i, Idle, free_now.listed, 1'b0};
    if (accept_now.epoch != accept_epoch_i) accept_now = {accept_epoch_i, Idle, accept_now.listed, 1'b0};
  end

  // The ring: a QP stands in it once.
  logic [QpBits-1:0] first_d, first_q, tail;
  logic [QpBits:0]   waiting_d, waiting_q;
  logic              served_q;  // the ring moved in the last cycle, for whatever it was worth

  // Serve.
  logic   serve, hands_on;
  state_t served;
  assign serve         = waiting_q != 0 && out_ready_i && atomic_ready_i;
  assign turn_index_o  = first_q;
  assign serve_index_o = turn_i;
  assign hands_on      = serve && !serve_now.busy && serve_now.count != 0;
  always_comb begin
    served        = serve_now;
    served.listed = 1'b0;
    if (hands_on) begin
      served.busy  = 1'b1;
      served.head  = serve_now.head + 1'b1;
      served.count = serve_now.count - 1'b1;
    end
  end
  assign serve_write_o   = serve;
  assign serve_state_o   = served;
  assign request_index_o = {turn_i, serve_now.head};
  assign out_valid_o     = hands_on && !request_i.is_atomic;
  assign atomic_valid_o  = hands_on && request_i.is_atomic;
  always_comb begin
    out_o.qpn        = request_i.qpn;
    out_o.request    = request_i.read;
    out_o.segment    = request_i.segment;
    atomic_o.qpn     = request_i.qpn;
    atomic_o.request = request_i.atomic;
    atomic_o.segment = request_i.segment;
  end

  // Free.
  logic   free, free_lists;
  state_t freed;
  assign free         = sent_valid_i;
  assign sent_ready_o = 1'b1;
  assign free_index_o = sent_i.qpn[QpBits-1:0];
  always_comb begin
    freed      = serve && free_index_o == serve_index_o ? served : free_now;
    free_lists = free && !freed.listed && freed.count != 0;
    freed.busy = 1'b0;
    if (free_lists) freed.listed = 1'b1;
  end
  assign free_write_o = free;
  assign free_state_o = freed;

  // Accept. A request beyond IRD ends the stream (RFC 5041 section 7.1: QN 1 has no buffer for it); later ones are not
  // looked at.
  logic                  accept, looks, over, takes, accept_lists;
  logic [PositionBits:0] held;
  state_t                accept_before, accepted;
  assign in_ready_o     = event_ready_i;
  assign accept         = in_valid_i && event_ready_i;
  assign accept_index_o = in_i.qpn[QpBits-1:0];
  always_comb begin
    accept_before = accept_now;
    if (serve && accept_index_o == serve_index_o) accept_before = served;
    if (free && accept_index_o == free_index_o)   accept_before = freed;
  end
  assign held         = accept_before.count + (PositionBits + 1)'(accept_before.busy);
  assign looks        = accept && accept_exists_i && !accept_before.overrun;
  assign over         = looks && 16'(held) >= accept_ird_i;
  assign takes        = looks && !over;
  assign accept_lists = takes && !accept_before.listed && !accept_before.busy;
  always_comb begin
    accepted = accept_before;
    if (over)         accepted.overrun = 1'b1;
    if (takes)        accepted.count   = accept_before.count + 1'b1;
    if (accept_lists) accepted.listed  = 1'b1;
  end
  assign accept_write_o        = accept;
  assign accept_state_o        = accepted;
  assign accept_held_o         = held + 1'b1;
  assign request_write_o       = takes;
  assign request_write_index_o = {accept_index_o, accept_before.head + accept_before.count[PositionBits-1:0]};
  assign request_o             = in_i;
  assign event_valid_o         = over;
  always_comb begin
    event_o        = '0;
    event_o.kind   = rnic_messages_pkg::QpEventStreamError;
    event_o.qpn    = in_i.qpn;
    event_o.cause  = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    event_o.failed = in_i.segment;
  end

  // Who is freed waits before who comes.
  assign tail                = first_q + waiting_q[QpBits-1:0];
  assign free_turn_write_o   = free_lists;
  assign free_turn_index_o   = tail;
  assign free_turn_o         = free_index_o;
  assign accept_turn_write_o = accept_lists;
  assign accept_turn_index_o = tail + QpBits'(free_lists);
  assign accept_turn_o       = accept_index_o;
  assign first_d             = first_q + QpBits'(serve);
  assign waiting_d = waiting_q - (QpBits + 1)'(serve) + (QpBits + 1)'(free_lists) + (QpBits + 1)'(accept_lists);

  // Without a link's move: a turn was worth nothing, and the next one follows.
  assign busy_o = served_q && waiting_q != 0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q   <= '0;
      waiting_q <= '0;
      served_q  <= 1'b0;
    end else begin
      first_q   <= first_d;
      waiting_q <= waiting_d;
      served_q  <= serve;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneKind_A       : assert (!(out_valid_o && atomic_valid_o));
      InRing_A        : assert (!serve || serve_now.listed);
      RequestOfQp_A   : assert (!hands_on || request_i.qpn == 32'(turn_i));
      WithinIrd_A     : assert (!takes || 16'(accept_held_o) <= accept_ird_i);
      RingFits_A      : assert (waiting_d <= (QpBits + 1)'(2 ** QpBits));
      IrdFits_A       : assert (!looks || accept_ird_i <= 16'(2 ** PositionBits));
      QpnFits_A       : assert (!in_valid_i || in_i.qpn >> QpBits == 0);
      SentQpnFits_A   : assert (!sent_valid_i || sent_i.qpn >> QpBits == 0);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Atomic_C             : cover (atomic_valid_o);
      OverIrd_C            : cover (over);
      AfterOverrun_C       : cover (accept && accept_exists_i && accept_before.overrun);
      AtIrd_C              : cover (takes && 16'(accept_held_o) == accept_ird_i);
      UnknownQp_C          : cover (accept && !accept_exists_i);
      ReusedQp_C           : cover (looks && accept_state_i[StateBits-1-:32] != accept_epoch_i);
      ServesReusedQp_C     : cover (serve && serve_state_i[StateBits-1-:32] != serve_epoch_i);
      FreesReusedQp_C      : cover (free && free_state_i[StateBits-1-:32] != free_epoch_i);
      ServedAndAccepted_C  : cover (serve && takes && serve_index_o == accept_index_o);
      FreedAndAccepted_C   : cover (free && takes && free_index_o == accept_index_o);
      OfThreeQps_C         : cover (serve && free && accept && serve_index_o != free_index_o &&
                                    serve_index_o != accept_index_o && free_index_o != accept_index_o);
      BothJoinTheRing_C    : cover (free_lists && accept_lists);
      TurnWithoutRequest_C : cover (serve && !hands_on);
      EventStalls_C        : cover (in_valid_i && !event_ready_i);
      Stalled_C            : cover (waiting_q != '0 && (!out_ready_i || !atomic_ready_i));
    end
  end

  if (QpBits < 1 || QpBits > 16 || PositionBits < 1 || PositionBits > 14) begin : gen_check
    $error("irrq: QpBits must be 1 to 16, PositionBits 1 to 14");
  end
endmodule
