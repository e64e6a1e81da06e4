// irrq against a predictor of librnic_golden, with the table and the lists that the block has outside. Eight queue pairs have three
// requests each at a time; queue pair 7 may have one, so its second request ends its stream. With +plant the device reads an IRD that
// is one too large.
module irrq_tb;
  import rnic_golden_pkg::*;
  import rnic_messages_pkg::*;
  localparam int unsigned Qps = 8, Requests = 400, TagBits = 4;

  logic clk_i = 1'b0, rst_ni = 1'b0;
  always #2 clk_i = !clk_i;

  logic                in_valid, in_ready, sent_valid, sent_ready, out_ready, out_valid, atomic_ready, atomic_valid, event_ready, event_valid, busy;
  queued_request_t     in, oldest, request, due_read, due_atomic;
  read_response_sent_t sent;
  queued_read_t        out;
  queued_atomic_t      atomic;
  qp_event_t           event_out;
  logic                row_ask, row_valid, row_drop, state_write, push, pop, due_read_valid, due_atomic_valid, due_read_push, due_atomic_push, due_read_pop;
  logic                due_atomic_pop, accepted;
  logic [31:0]         row_index;
  logic [TagBits-1:0]  row_ask_tag, row_tag;
  irrq_row_t           row;
  qp_irrq_t            state;
  logic [16:0]         held;
  irrq dut (
    .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_i(in), .sent_valid_i(sent_valid), .sent_ready_o(sent_ready), .sent_i(sent),
    .out_ready_i(out_ready), .out_valid_o(out_valid), .out_o(out), .atomic_ready_i(atomic_ready), .atomic_valid_o(atomic_valid), .atomic_o(atomic),
    .event_ready_i(event_ready), .event_valid_o(event_valid), .event_o(event_out), .busy_o(busy), .row_ready_i(1'b1), .row_ask_o(row_ask),
    .row_index_o(row_index), .row_tag_o(row_ask_tag), .row_valid_i(row_valid), .row_tag_i(row_tag), .row_i(row), .row_drop_o(row_drop),
    .state_write_o(state_write), .state_o(state), .oldest_i(oldest), .push_o(push), .request_o(request), .pop_o(pop), .due_ready_i(1'b1),
    .due_read_valid_i(due_read_valid), .due_read_i(due_read), .due_atomic_valid_i(due_atomic_valid), .due_atomic_i(due_atomic),
    .due_read_push_o(due_read_push), .due_atomic_push_o(due_atomic_push), .due_read_pop_o(due_read_pop), .due_atomic_pop_o(due_atomic_pop),
    .accepted_o(accepted), .held_o(held)
  );

  // Outside of the block: a row for each queue pair, the list of what waits in it, and what is due.
  typedef struct packed {
    logic [2:0]         qpn;
    logic [TagBits-1:0] tag;
  } ask_t;
  logic            planted;
  qp_irrq_t        states[Qps];
  queued_request_t lists[Qps][$];
  queued_request_t due_reads[$], due_atomics[$], popped;
  ask_t            asks[$];
  task automatic serve;
    logic [2:0] qpn;
    if (row_valid) begin
      qpn    = asks[0].qpn;
      popped = request;
      if (pop) popped = lists[qpn].pop_front();
      if (push) lists[qpn].push_back(request);
      if (state_write) states[qpn] = state;
      if (row_drop) void'(asks.pop_front());
    end
    if (due_read_pop) void'(due_reads.pop_front());
    if (due_atomic_pop) void'(due_atomics.pop_front());
    if (due_read_push) due_reads.push_back(popped);
    if (due_atomic_push) due_atomics.push_back(popped);
  endtask
  task automatic show;
    logic [2:0] qpn;
    row_valid        <= asks.size() != 0;
    due_read_valid   <= due_reads.size() != 0;
    due_atomic_valid <= due_atomics.size() != 0;
    if (due_reads.size() != 0) due_read <= due_reads[0];
    if (due_atomics.size() != 0) due_atomic <= due_atomics[0];
    if (asks.size() == 0) return;
    qpn                     = asks[0].qpn;
    row_tag                <= asks[0].tag;
    row.qp.valid           <= 1'b1;
    row.qp.ird             <= ird_of(32'(qpn)) + 16'(planted);
    row.qp.epoch           <= 32'd1;
    row.state              <= states[qpn];
    row.state.waiting.size <= 16'(lists[qpn].size());
    if (lists[qpn].size() != 0) oldest <= lists[qpn][0];
  endtask
  function automatic logic [15:0] ird_of(input logic [31:0] qpn);
    ird_of = qpn == 32'd7 ? 16'd1 : 16'd3;
  endfunction

  // The peers: each queue pair has at most three requests. What was handed on is answered, in any order of queue pairs.
  int unsigned number = 0, holds[Qps];
  logic [31:0] answers[$];
  task automatic offer;
    logic [31:0] qpn;
    qpn = $urandom % Qps;
    if (!in_valid || in_ready) begin
      in_valid <= number < Requests && holds[qpn] < 3;
      if (number < Requests && holds[qpn] < 3) begin
        in           <= '0;
        in.is_atomic <= $urandom % 2 == 0;
        in.qpn       <= qpn;
        in.epoch     <= 32'd1;
        in.read.size <= number;
        in.atomic.request_id  <= number;
        in.segment.length        <= 16'(number);
        in.segment.ddp_bytes     <= 5'd18;
        in.segment.request_bytes <= 5'd28;
        for (int unsigned i = 0; i < 11; i++) in.segment.octets[32*i+:32] <= $urandom;
        holds[qpn]++;
        number <= number + 1;
      end
    end
    if (!sent_valid || sent_ready) begin
      sent_valid <= answers.size() != 0 && $urandom % 4 == 0;
      if (answers.size() != 0) sent <= {answers[0], 32'd1};
    end
  endtask

  // The predictor has what the device takes, in its order; what the device gives is compared with what the predictor gives.
  chandle      model;
  int unsigned compared = 0, events = 0;
  task automatic check(input int result);
    if (result < 0) $fatal(1, "%s: %s", rnic_status_name(result), rnic_stage_text(model));
  endtask
  task automatic listen;
    queued_read_t   expected_read;
    queued_atomic_t expected_atomic;
    qp_event_t      expected_event;
    if (sent_valid && sent_ready) begin
      check(irrq_push_sent(model, sent));
      holds[sent.qpn[2:0]]--;
    end
    if (in_valid && in_ready) check(irrq_push_in(model, in));
    if (out_valid) begin
      if (irrq_take_out(model, expected_read) != Ok) $fatal(1, "irrq.out: request %0d of QP %0d is too much", out.request.size, out.qpn);
      if (out !== expected_read)
        $fatal(1, "irrq.out: expected request %0d of QP %0d, seen %0d of QP %0d", expected_read.request.size, expected_read.qpn,
               out.request.size, out.qpn);
      answers.push_back(out.qpn);
    end
    if (atomic_valid) begin
      if (irrq_take_atomic(model, expected_atomic) != Ok)
        $fatal(1, "irrq.atomic: request %0d of QP %0d is too much", atomic.request.request_id, atomic.qpn);
      if (atomic !== expected_atomic)
        $fatal(1, "irrq.atomic: expected request %0d of QP %0d, seen %0d of QP %0d", expected_atomic.request.request_id, expected_atomic.qpn,
               atomic.request.request_id, atomic.qpn);
      answers.push_back(atomic.qpn);
    end
    if (event_valid) begin
      if (irrq_take_event(model, expected_event) != Ok) $fatal(1, "irrq.event: QP %0d is too much", event_out.qpn);
      if (event_out !== expected_event)
        $fatal(1, "irrq.event: expected QP %0d, request %0d, seen QP %0d, request %0d", expected_event.qpn, expected_event.failed.length,
               event_out.qpn, event_out.failed.length);
      events++;
    end
    compared += 32'(out_valid) + 32'(atomic_valid) + 32'(event_valid);
  endtask

  always @(posedge clk_i) begin
    if (!rst_ni) begin
      {in_valid, sent_valid, out_ready, atomic_ready, event_ready, row_valid, due_read_valid, due_atomic_valid} <= '0;
    end else begin
      if (row_ask) asks.push_back({row_index[2:0], row_ask_tag});
      listen();
      if (sent_valid && sent_ready) void'(answers.pop_front());
      serve();
      show();
      offer();
      out_ready    <= (out_ready && !out_valid) || $urandom % 2 == 0;
      atomic_ready <= (atomic_ready && !atomic_valid) || $urandom % 2 == 0;
      event_ready  <= (event_ready && !event_valid) || $urandom % 2 == 0;
    end
  end

  qp_row_t     context_row;
  queued_read_t   left_read;
  queued_atomic_t left_atomic;
  qp_event_t      left_event;
  initial begin
    planted = $test$plusargs("plant") != 0;
    check(rnic_stage_open(Abi, "irrq", "{\"qps\": 8, \"max_ird\": 4}", model));
    for (int unsigned i = 0; i < Qps; i++) begin
      states[i]           = '0;
      states[i].epoch     = 32'd1;
      context_row         = '0;
      context_row.state   = QpRts;
      context_row.valid   = 1'b1;
      context_row.ird     = ird_of(i);
      context_row.epoch   = 32'd1;
      check(irrq_row_qp(model, i, context_row));
    end
    repeat (2) @(negedge clk_i);
    rst_ni = 1'b1;
    while (number < Requests) @(posedge clk_i);
    repeat (2000) @(posedge clk_i);
    if (irrq_take_out(model, left_read) == Ok) $fatal(1, "irrq.out: request %0d is missing", left_read.request.size);
    if (irrq_take_atomic(model, left_atomic) == Ok) $fatal(1, "irrq.atomic: request %0d is missing", left_atomic.request.request_id);
    if (irrq_take_event(model, left_event) == Ok) $fatal(1, "irrq.event: QP %0d is missing", left_event.qpn);
    if (events != 1) $fatal(1, "irrq.event: %0d events, one was to be", events);
    if (compared < Requests / 2) $fatal(1, "irrq: %0d messages of %0d were compared", compared, Requests);
    rnic_stage_close(model);
    $display("irrq: %0d messages, all right", compared);
    $finish;
  end
endmodule
