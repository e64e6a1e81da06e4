// Inbound Read Request queue: the twin of model/rnic/responder/irrq. See irrq.md there for the timing.
// A request that comes and a response that has left are events of their QP, executed one a cycle with its row. The rows lie in
// a table, and the elements of all lists outside.
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

  // Requests that are due, the oldest one of each kind: they wait for a place at the next stage.
  input  logic                                   due_ready_i,    // there is room for another one
  input  logic                                   due_read_valid_i,
  input  rnic_messages_pkg::queued_request_t     due_read_i,
  input  logic                                   due_atomic_valid_i,
  input  rnic_messages_pkg::queued_request_t     due_atomic_i,
  output logic                                   due_read_push_o,    // the one popped from the row's list, else that of the event
  output logic                                   due_atomic_push_o,
  output logic                                   due_read_pop_o,
  output logic                                   due_atomic_pop_o,
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

  // What it does. A request beyond IRD ends the stream (RFC 5041 section 7.1: QN 1 has no buffer for it); later ones are not
  // looked at.
  logic                               current, looks, over, takes, returns, makes_due, room, executes;
  logic [16:0]                        held;
  rnic_messages_pkg::queued_request_t next;
  assign current  = epoch == row_i.qp.epoch;
  assign held     = 17'(waiting) + 17'(now.busy);
  assign looks    = current && is_request && row_i.qp.valid && !now.overrun;
  assign over     = looks && held >= 17'(row_i.qp.ird);
  assign takes    = looks && !over;
  assign returns  = current && !is_request && now.busy;
  assign makes_due = (takes && !now.busy) || (returns && waiting != 0);
  assign next     = is_request ? request_o : oldest_i;
  assign room     = (!over || event_ready_i) && (!makes_due || due_ready_i);
  assign executes = row_valid_i && room;

  // What is due goes at once, unless there is no place or another one of its kind waits for one.
  logic                               read_due, atomic_due, read_goes, atomic_goes;
  rnic_messages_pkg::queued_request_t read, atomic;
  assign read_due          = executes && makes_due && !next.is_atomic;
  assign atomic_due        = executes && makes_due && next.is_atomic;
  assign read_goes         = read_due && out_ready_i && !due_read_valid_i;
  assign atomic_goes       = atomic_due && atomic_ready_i && !due_atomic_valid_i;
  assign due_read_push_o   = read_due && !read_goes;
  assign due_atomic_push_o = atomic_due && !atomic_goes;
  assign due_read_pop_o    = due_read_valid_i && out_ready_i;
  assign due_atomic_pop_o  = due_atomic_valid_i && atomic_ready_i;
  assign read              = due_read_valid_i ? due_read_i : next;
  assign atomic            = due_atomic_valid_i ? due_atomic_i : next;

  assign drops          = executes;
  assign row_drop_o     = executes;
  assign state_write_o  = executes && (over || takes || returns);
  assign push_o         = executes && takes && now.busy;
  assign pop_o          = executes && returns && waiting != 0;
  assign out_valid_o    = read_goes || due_read_pop_o;
  assign atomic_valid_o = atomic_goes || due_atomic_pop_o;
  assign event_valid_o  = executes && over;
  assign accepted_o     = executes && takes;
  assign held_o         = held + 17'd1;
  always_comb begin
    state_o         = now;
    state_o.overrun = now.overrun || over;
    state_o.busy    = takes || (now.busy && !(returns && waiting == 0));
    out_o.qpn       = read.qpn;
    out_o.request   = read.read;
    out_o.segment   = read.segment;
    out_o.epoch     = read.epoch;
    out_o.pd        = read.pd;
    atomic_o.qpn     = atomic.qpn;
    atomic_o.request = atomic.atomic;
    atomic_o.segment = atomic.segment;
    atomic_o.epoch   = atomic.epoch;
    atomic_o.pd      = atomic.pd;
    event_o        = '0;
    event_o.kind   = rnic_messages_pkg::QpEventStreamError;
    event_o.qpn    = qpn;
    event_o.cause  = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    event_o.failed = request_o.segment;
  end

  // Another event may be there.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_o <= 1'b0;
    else         busy_o <= executes || row_ask_o || due_read_pop_o || due_atomic_pop_o;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      InOrder_A   : assert (!row_valid_i || now.busy || waiting == 0);
      WithinIrd_A : assert (!accepted_o || held_o <= 17'(row_i.qp.ird));
      OfItsQp_A   : assert (!(executes && makes_due) || next.qpn == qpn);
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
      ReadWaits_C     : cover (due_read_push_o && !due_read_valid_i);
      AtomicWaits_C   : cover (due_atomic_push_o && !due_atomic_valid_i);
      BehindADueOne_C : cover (due_read_push_o && due_read_pop_o);
      BothGo_C        : cover (due_read_pop_o && due_atomic_pop_o);
      PassesTheOther_C: cover (due_atomic_valid_i && !atomic_ready_i && read_goes);
      DueFull_C       : cover (row_valid_i && makes_due && !due_ready_i);
      Full_C          : cover (in_valid_i && !can_take);
    end
  end
endmodule
