// What happens to queue pairs, on its way to their rows of the receive table: the twin of RxEvents. One is taken a cycle, as
// each asks for a row; the row comes with the number of the place where its event waits, and the event is executed. An event
// about an earlier use of the queue pair's number does nothing.
module placement_events (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  // Doorbells, of which those that announce too much are events.
  input  logic                                   posted_valid_i,
  output logic                                   posted_ready_o,
  input  logic [31:0]                            posted_qpn_i,
  input  logic [31:0]                            posted_epoch_i,  // the use of its number
  input  logic                                   overrun_i,
  input  logic                                   flush_valid_i,
  output logic                                   flush_ready_o,
  input  rnic_messages_pkg::rq_flush_t           flush_i,
  input  logic                                   answered_valid_i,
  output logic                                   answered_ready_o,
  input  rnic_messages_pkg::read_response_sent_t answered_i,
  input  logic                                   read_issued_valid_i,
  output logic                                   read_issued_ready_o,
  input  rnic_messages_pkg::read_issued_t        read_issued_i,
  // The receive table.
  input  logic                                   row_ready_i,    // a row can be asked for
  output logic                                   row_ask_o,
  output logic [31:0]                            row_index_o,
  output logic [3:0]                             row_tag_o,
  input  logic                                   row_valid_i,
  input  logic [3:0]                             row_tag_i,
  input  rnic_messages_pkg::rx_row_t             row_i,
  output logic                                   executes_o,     // with the row that is there, which is dropped
  output logic [31:0]                            qpn_o,
  output logic                                   write_o,        // its queue pair's state
  output rnic_messages_pkg::qp_rx_t              state_o,
  output logic                                   read_o,         // a Read is outstanding from now on:
  output rnic_messages_pkg::read_issued_t        issued_o,
  output logic                                   flush_o,        // its receive requests go unused, and complete there:
  output logic [31:0]                            flush_cq_o,
  // Whether an event of this queue pair waits, after this cycle's one.
  input  logic [31:0]                            about_qpn_i,
  output logic                                   about_o,
  // An overrun to report.
  output logic                                   report_o,
  output logic [31:0]                            report_qpn_o,
  input  logic                                   reported_i
);
  localparam int unsigned Places = 16;
  localparam logic [1:0] EventRead = 2'd0, EventAnswered = 2'd1, EventFlush = 2'd2, EventOverrun = 2'd3;

  logic [Places-1:0]        used_q, free_first, executed, after;
  logic [31:0]              qpns_q [Places];
  logic [1:0]               kinds_q [Places];
  logic [31:0]              epochs_q [Places];
  logic [191:0]             issued_q [Places];  // read_issued_t; of a flush its completion queue
  logic                     can_take, overruns, overruns_q, report_q;
  logic [31:0]              report_qpn_q;
  logic [31:0]              taken_epoch;
  logic [1:0]               taken, now;  // kinds of the one that is taken, and of the one that is executed

  assign can_take            = used_q != '1 && row_ready_i;
  assign posted_ready_o      = posted_valid_i && can_take && !overruns_q && !report_q;
  assign overruns            = posted_ready_o && overrun_i;
  assign flush_ready_o       = flush_valid_i && can_take && !overruns;
  assign answered_ready_o    = answered_valid_i && can_take && !overruns && !flush_valid_i;
  assign read_issued_ready_o = read_issued_valid_i && can_take && !overruns && !flush_valid_i && !answered_valid_i;
  assign row_ask_o           = overruns || flush_ready_o || answered_ready_o || read_issued_ready_o;
  always_comb begin
    if (overruns)              {taken, row_index_o, taken_epoch} = {EventOverrun, posted_qpn_i, posted_epoch_i};
    else if (flush_ready_o)    {taken, row_index_o, taken_epoch} = {EventFlush, flush_i.qpn, flush_i.epoch};
    else if (answered_ready_o) {taken, row_index_o, taken_epoch} = {EventAnswered, answered_i.qpn, answered_i.epoch};
    else                       {taken, row_index_o, taken_epoch} = {EventRead, read_issued_i.qpn, read_issued_i.epoch};
  end

  // The first free place.
  always_comb begin
    row_tag_o  = '0;
    free_first = '0;
    for (int i = Places - 1; i >= 0; i--) begin
      if (!used_q[i]) row_tag_o = 4'(i);
    end
    free_first[row_tag_o] = row_ask_o;
  end

  logic                      current;
  rnic_messages_pkg::qp_rx_t was;
  assign executes_o = row_valid_i;
  assign now        = kinds_q[row_tag_i];
  assign qpn_o      = qpns_q[row_tag_i];
  assign current    = epochs_q[row_tag_i] == row_i.qp.epoch;
  rx_current u_was (
    .row_i,
    .state_o(was)
  );
  assign write_o    = executes_o && current;
  assign read_o     = write_o && now == EventRead;
  assign flush_o    = write_o && now == EventFlush;
  assign issued_o   = issued_q[row_tag_i];
  assign flush_cq_o = issued_q[row_tag_i][31:0];
  always_comb begin
    state_o = was;
    case (now)
      EventAnswered: if (was.requests != '0) state_o.requests = was.requests - 16'd1;
      EventFlush:    state_o.stream = rnic_messages_pkg::RxStopped;
      // The firmware ends the stream. One that has not begun ends with its first message, at the latest.
      EventOverrun:  if (row_i.qp.state == rnic_messages_pkg::QpRts) state_o.stream = rnic_messages_pkg::RxStopped;
      default: ;
    endcase
  end

  always_comb begin
    executed            = '0;
    executed[row_tag_i] = executes_o;
    after               = used_q & ~executed;
    about_o             = row_ask_o && row_index_o == about_qpn_i;
    for (int unsigned i = 0; i < Places; i++) about_o |= after[i] && qpns_q[i] == about_qpn_i;
  end

  assign report_o     = report_q;
  assign report_qpn_o = report_qpn_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q     <= '0;
      overruns_q <= 1'b0;
      report_q   <= 1'b0;
    end else begin
      used_q     <= after | free_first;
      overruns_q <= overruns || (overruns_q && !(executes_o && now == EventOverrun));
      report_q   <= (write_o && now == EventOverrun && was.stream != rnic_messages_pkg::RxStopped) || (report_q && !reported_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (row_ask_o) begin
      qpns_q[row_tag_o]   <= row_index_o;
      kinds_q[row_tag_o]  <= taken;
      epochs_q[row_tag_o] <= taken_epoch;
      issued_q[row_tag_o] <= flush_ready_o ? 192'(flush_i.recv_cq) : read_issued_i;
    end
    if (executes_o) report_qpn_q <= report_q ? report_qpn_q : qpn_o;
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      UsedPlace_A    : assert (!row_valid_i || used_q[row_tag_i]);
      Overrun_C      : cover (overruns);
      EarlierUse_C   : cover (executes_o && !current);
      StoppedTwice_C : cover (write_o && now == EventOverrun && was.stream == rnic_messages_pkg::RxStopped);
      SeveralWait_C  : cover ((used_q & (used_q - 16'd1)) != '0);
      AboutWaits_C   : cover (about_o && (after & ~free_first) != '0);
    end
  end
endmodule
