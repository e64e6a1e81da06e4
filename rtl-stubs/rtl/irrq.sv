// Inbound Read Request queue: the twin of model/rnic/responder/irrq. See irrq.md there for the timing.
// A request that comes and a response that has left are events of their QP, executed one a cycle with its row. The rows lie in
// a table, and the elements of their lists outside.
module irrq #(
  parameter int unsigned Places = 16,  // for events whose row is being read
  localparam int unsigned TagBits = $clog2(Places)
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   in_valid_i,
  output logic                                   in_ready_o,
  input  rnic_messages_pkg::queued_request_t     in_i,
  input  logic                                   sent_valid_i,
  output logic                                   sent_ready_o,
  input  rnic_messages_pkg::read_response_sent_t sent_i,
  input  logic                                   out_ready_i,
  output logic                                   out_valid_o,
  output rnic_messages_pkg::queued_read_t        out_o,
  input  logic                                   atomic_ready_i,
  output logic                                   atomic_valid_o,
  output rnic_messages_pkg::queued_atomic_t      atomic_o,
  input  logic                                   event_ready_i,
  output logic                                   event_valid_o,
  output rnic_messages_pkg::qp_event_t           event_o,
  output logic                                   busy_o,         // it may do something without anything new on its links

  // The table of rows: one is asked for and comes later, with its event's tag, in front until it is dropped.
  input  logic                                   row_ready_i,
  output logic                                   row_ask_o,
  output logic [31:0]                            row_index_o,
  output logic [TagBits-1:0]                     row_tag_o,
  input  logic                                   row_valid_i,
  input  logic [TagBits-1:0]                     row_tag_i,
  input  rnic_messages_pkg::irrq_row_t           row_i,
  output logic                                   row_drop_o,
  output logic                                   state_write_o,  // the state in that row
  output rnic_messages_pkg::qp_irrq_t            state_o,        // but for its list

  // The list of that row.
  input  rnic_messages_pkg::queued_request_t     oldest_i,       // if there is one
  output logic                                   push_o,
  output rnic_messages_pkg::queued_request_t     request_o,      // of the event
  output logic                                   pop_o,
  output logic                                   accepted_o,     // to be counted: a request, with which so many are held
  output logic [16:0]                            held_o
);
  localparam int unsigned RequestBits = $bits(in_i);

  // A response that has left makes room before a request comes.
  logic        can_take, is_request, drops;
  logic [31:0] qpn, epoch;
  assign sent_ready_o = sent_valid_i && can_take;
  assign in_ready_o   = in_valid_i && can_take && !sent_valid_i;
  assign row_index_o  = sent_valid_i ? sent_i.qpn : in_i.qpn;
  logic [RequestBits:0] event_data;
  logic                 unused_about;
  assign {is_request, request_o} = event_data;
  row_events #(
    .DataBits(1 + RequestBits),
    .Places  (Places)
  ) u_events (
    .clk_i,
    .rst_ni,
    .ready_o    (can_take),
    .take_i     (sent_valid_i || in_valid_i),
    .qpn_i      (row_index_o),
    .epoch_i    (sent_valid_i ? sent_i.epoch : in_i.epoch),
    .data_i     ({!sent_valid_i, in_i}),
    .row_ready_i,
    .row_ask_o,
    .row_tag_o,
    .row_tag_i,
    .qpn_o      (qpn),
    .epoch_o    (epoch),
    .data_o     (event_data),
    .drop_i     (drops),
    .about_qpn_i('0),
    .about_o    (unused_about)
  );

  // The state as it is now: if the QP number was reused nothing is left.
  rnic_messages_pkg::qp_irrq_t now;
  logic [15:0]                 waiting;
  always_comb begin
    now = row_i.state;
    if (row_i.state.epoch != row_i.qp.epoch) begin
      now       = '0;
      now.epoch = row_i.qp.epoch;
    end
  end
  assign waiting = now.waiting.size;

  // What it does, if the next stage has a place. A request beyond IRD ends the stream (RFC 5041 section 7.1: QN 1 has no buffer
  // for it); later ones are not looked at.
  logic                               current, looks, over, takes, returns, hands_on, room, executes;
  logic [16:0]                        held;
  rnic_messages_pkg::queued_request_t next;
  assign current  = epoch == row_i.qp.epoch;
  assign held     = 17'(waiting) + 17'(now.busy);
  assign looks    = current && is_request && row_i.qp.valid && !now.overrun;
  assign over     = looks && held >= 17'(row_i.qp.ird);
  assign takes    = looks && !over;
  assign returns  = current && !is_request && now.busy;
  assign hands_on = (takes && !now.busy) || (returns && waiting != 0);
  assign next     = is_request ? request_o : oldest_i;
  assign room     = (!over || event_ready_i) && (!hands_on || (next.is_atomic ? atomic_ready_i : out_ready_i));
  assign executes = row_valid_i && room;

  assign drops          = executes;
  assign row_drop_o     = executes;
  assign state_write_o  = executes && (over || takes || returns);
  assign push_o         = executes && takes && now.busy;
  assign pop_o          = executes && returns && waiting != 0;
  assign out_valid_o    = executes && hands_on && !next.is_atomic;
  assign atomic_valid_o = executes && hands_on && next.is_atomic;
  assign event_valid_o  = executes && over;
  assign accepted_o     = executes && takes;
  assign held_o         = held + 17'd1;
  always_comb begin
    state_o         = now;
    state_o.overrun = now.overrun || over;
    state_o.busy    = takes || (now.busy && !(returns && waiting == 0));
    out_o.qpn       = next.qpn;
    out_o.request   = next.read;
    out_o.segment   = next.segment;
    out_o.epoch     = next.epoch;
    out_o.pd        = next.pd;
    atomic_o.qpn     = next.qpn;
    atomic_o.request = next.atomic;
    atomic_o.segment = next.segment;
    atomic_o.epoch   = next.epoch;
    atomic_o.pd      = next.pd;
    event_o        = '0;
    event_o.kind   = rnic_messages_pkg::QpEventStreamError;
    event_o.qpn    = qpn;
    event_o.cause  = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    event_o.failed = request_o.segment;
  end

  // Another event may be there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_o <= 1'b0;
    else         busy_o <= executes || row_ask_o;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneKind_A   : assert (!(out_valid_o && atomic_valid_o));
      InOrder_A   : assert (!row_valid_i || now.busy || waiting == 0);
      WithinIrd_A : assert (!accepted_o || held_o <= 17'(row_i.qp.ird));
      OfItsQp_A   : assert (!(out_valid_o || atomic_valid_o) || next.qpn == qpn);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Atomic_C        : cover (atomic_valid_o);
      OverIrd_C       : cover (event_valid_o);
      AfterOverrun_C  : cover (executes && current && is_request && row_i.qp.valid && now.overrun);
      AtIrd_C         : cover (accepted_o && held_o == 17'(row_i.qp.ird));
      UnknownQp_C     : cover (executes && is_request && current && !row_i.qp.valid);
      EarlierUse_C    : cover (executes && is_request && !current);
      FreesEarlier_C  : cover (executes && !is_request && !current);
      ReusedQp_C      : cover (executes && takes && row_i.state.epoch != row_i.qp.epoch);
      FreesNothing_C  : cover (executes && current && !is_request && !now.busy);
      NextFollows_C   : cover (pop_o);
      BothCome_C      : cover (sent_valid_i && in_valid_i && can_take);
      EventStalls_C   : cover (row_valid_i && over && !event_ready_i);
      Stalled_C       : cover (row_valid_i && hands_on && !room);
      Full_C          : cover (in_valid_i && !can_take);
    end
  end
endmodule
