// Executes Atomic Requests on host memory: the twin of model/rnic/responder/atomic_alu. See atomic_alu.md there for the
// timing and for what happens at one address. A cycle, in this order: an atomic whose write is out is answered, one gets
// its result, one its operand, one enters the pipeline, and a request is checked and started.
// Outside lie the contexts, with ports for the request that is offered (`in_`) and for the atomic that is answered; the tables
// of STags and of pages, of which one row is asked for at a time and comes later, in front until it is dropped; and what DMA reads have
// brought: the octets of the read that read_done_i tells of are on read_done_data_i. Outside is, too, what tells of the words of the operations in flight whether
// somebody else has written to them (WordWatch): word_ and release_ say which are watched, older_ is the one asked for.
module atomic_alu #(
  parameter int unsigned Operations         = 64,
  parameter int unsigned InitiationInterval = 4,
  parameter int unsigned PipelineCycles     = 4,
  localparam int unsigned IndexWidth = Operations > 1 ? $clog2(Operations) : 1
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  output logic                                  busy_o,       // it may do something without anything new on its links

  input  logic                                  in_valid_i,
  output logic                                  in_ready_o,
  input  rnic_messages_pkg::queued_atomic_t     in_i,
  output logic [31:0]                           in_qp_index_o,
  input  rnic_messages_pkg::qp_life_t           in_qp_i,
  input  logic                                  stag_ready_i,    // an entry can be asked for
  output logic                                  stag_ask_o,
  output logic [23:0]                           in_stag_index_o,
  input  logic                                  stag_valid_i,    // it is there:
  input  rnic_messages_pkg::stag_context_t      in_stag_i,
  output logic                                  stag_drop_o,
  input  logic                                  region_ready_i,  // and so for a window's region
  output logic                                  region_ask_o,
  output logic [23:0]                           in_region_index_o,
  input  logic                                  region_valid_i,
  input  logic [23:0]                           region_row_i,
  input  rnic_messages_pkg::stag_context_t      in_region_i,
  output logic                                  region_drop_o,
  input  logic                                  pages_ready_i,   // a row can be asked for
  output logic                                  pages_ask_o,
  output logic [31:0]                           pages_index_o,
  input  logic                                  pages_valid_i,   // a row is there, this one:
  input  logic [31:0]                           pages_row_i,
  input  rnic_messages_pkg::page_row_t          pages_i,
  output logic                                  pages_drop_o,

  input  logic                                  read_ready_i,
  output logic                                  read_valid_o,
  output rnic_messages_pkg::dma_read_request_t  read_o,
  input  logic                                  read_done_valid_i,
  output logic                                  read_done_ready_o,
  input  rnic_messages_pkg::dma_read_done_t     read_done_i,
  input  logic [63:0]                           read_done_data_i,

  input  logic                                  write_ready_i,
  output logic                                  write_valid_o,
  output rnic_messages_pkg::dma_write_request_t write_o,
  output logic [63:0]                           write_data_o,

  input  logic                                  written_valid_i,
  output logic                                  written_ready_o,
  input  rnic_messages_pkg::dma_write_done_t    written_i,
  output logic [31:0]                           answer_qp_index_o,
  input  rnic_messages_pkg::qp_life_t           answer_qp_i,
  input  logic                                  out_ready_i,
  output logic                                  out_valid_o,
  output rnic_messages_pkg::atomic_work_t       out_o,
  input  logic                                  event_ready_i,
  output logic                                  event_valid_o,
  output rnic_messages_pkg::qp_event_t          event_o,

  output logic [IndexWidth-1:0]                 older_index_o,
  input  logic                                  older_overwritten_i,
  output logic                                  word_watch_o,
  output logic [IndexWidth-1:0]                 word_index_o,
  output logic [63:0]                           word_address_o,
  output logic                                  word_follows_o,  // what older_ says holds for it, too
  output logic                                  release_o,
  output logic [IndexWidth-1:0]                 release_index_o,

  output logic                                  fetch_add_o,  // one of these to count, in this cycle
  output logic                                  cmp_swap_o,
  output logic                                  forwarded_o,
  output logic                                  held_up_o,
  output logic                                  refused_o,
  output logic                                  failed_o
);
  localparam int unsigned CountWidth = $clog2(Operations + 1);
  localparam logic [31:0] Bytes      = 32'd8;

  // Answer, in the order of execution: an answer never tells a value whose write something could still overtake.
  logic                               unanswered, answering, answer_fails, answer_alive;
  logic [IndexWidth-1:0]              answer;
  logic [31:0]                        answer_qpn, answer_epoch;
  logic [63:0]                        answer_original;
  rnic_messages_pkg::atomic_request_t answer_request;
  logic                               answer_ok, answer_writes;
  assign answering         = unanswered && out_ready_i && event_ready_i && (!answer_writes || written_valid_i);
  assign answer_fails      = answering && !answer_ok;
  assign written_ready_o   = answering && answer_writes;
  assign answer_qp_index_o = answer_qpn;
  assign answer_alive      = answer_qp_i.valid && answer_epoch == answer_qp_i.epoch;
  assign out_valid_o       = answering && !answer_fails && answer_alive;
  assign out_o             = {answer_qpn, answer_request.request_id, answer_original, answer_epoch};

  // Finish: a result leaves the pipeline.
  logic                               finishing, finish_ok, forwards;
  logic [IndexWidth-1:0]              finish, finish_next;
  rnic_messages_pkg::atomic_request_t finish_request;
  logic [63:0]                        finish_address, finish_original, value;
  logic [PipelineCycles-1:0]          pipeline_d, pipeline_q;  // where atomics are in it
  logic [CountWidth-1:0]              waiting_d, waiting_q, due;  // results that could not leave yet
  assign due       = waiting_q + CountWidth'(pipeline_q[PipelineCycles-1]);
  assign finishing = due != 0 && write_ready_i;
  assign waiting_d = due - CountWidth'(finishing);

  logic value_writes;
  atomic_operation u_operation (
    .cmp_swap_i    (finish_request.operation[1]),
    .original_i    (finish_original),
    .data_i        (finish_request.data),
    .data_mask_i   (finish_request.data_mask),
    .compare_i     (finish_request.compare),
    .compare_mask_i(finish_request.compare_mask),
    .value_o       (value),
    .writes_o      (value_writes)
  );
  assign write_valid_o = finishing && finish_ok && value_writes;
  assign write_o       = {finish_address, Bytes, 32'd0, 32'd0, 1'b1, 25'd0};
  assign write_data_o  = value;

  // Operands from host memory, in any order.
  logic [IndexWidth-1:0] operand;
  assign read_done_ready_o = read_done_valid_i;
  assign operand           = read_done_i.tag[IndexWidth-1:0];

  // Accept: one request each initiation interval. One of a queue pair that is gone has nobody to answer. While an answer
  // is an event there is no room for another.
  logic                                free, due_next, holding_up, accepting, known, refused, refusing, starting, follows, has_operand;
  logic [IndexWidth-1:0]               start;
  logic [63:0]                         in_address;
  logic [2:0]                          in_low;
  logic                                in_named, in_contains, in_pages, there, found;
  logic [31:0]                         page_index;
  logic [63:0]                         page;
  rnic_messages_pkg::terminate_cause_t in_cause;
  logic [6:0]                          interval_d, interval_q;  // cycles until the next one may start
  assign due_next      = in_valid_i && interval_q == 0 && free && read_ready_i && event_ready_i && !(answer_fails && answer_alive);
  // The result of the older one is not what memory holds any more: memory is read when that one is answered.
  assign holding_up    = due_next && there && found && known && !refused && follows && older_overwritten_i;
  assign accepting     = due_next && there && found && !holding_up;
  assign known         = in_qp_i.valid && in_qp_i.epoch == in_i.epoch;
  assign refusing      = accepting && known && refused;
  assign starting      = accepting && known && !refused;
  assign interval_d    = accepting ? 7'(InitiationInterval - 1) : interval_q == 0 ? '0 : interval_q - 7'd1;
  assign in_ready_o    = accepting;
  assign in_qp_index_o = in_i.qpn;
  assign read_valid_o  = starting && !follows;
  assign read_o        = {in_address, Bytes, 32'(start), 25'd0, 32'd0};

  // The entries of its STag: of one whose queue pair is there, and with an opcode that is assigned.
  logic assigned, in_window;
  assign assigned  = in_i.request.operation[3:0] == rnic_messages_pkg::AtomicFetchAdd ||
                     in_i.request.operation[3:0] == rnic_messages_pkg::AtomicCmpSwap;
  assign in_window = in_stag_i.valid && in_stag_i.key == in_i.request.stag[7:0] &&
                     in_stag_i.kind != rnic_messages_pkg::StagRegion;
  named_stag u_named (
    .clk_i,
    .rst_ni,
    .wanted_i      (in_valid_i && known && assigned),
    .there_o       (there),
    .used_i        (accepting),
    .forget_i      (1'b0),
    .window_i      (in_window),
    .region_index_i(in_region_index_o),
    .entry_ready_i (stag_ready_i),
    .entry_ask_o   (stag_ask_o),
    .entry_valid_i (stag_valid_i),
    .entry_drop_o  (stag_drop_o),
    .region_ready_i,
    .region_ask_o,
    .region_valid_i,
    .region_row_i,
    .region_drop_o
  );
  stag_target u_in (
    .stag_i        (in_i.request.stag),
    .to_i          (in_i.request.to),
    .entry_index_o (in_stag_index_o),
    .entry_i       (in_stag_i),
    .region_index_o(in_region_index_o),
    .region_i      (in_region_i),
    .paged_o       (in_pages),
    .page_index_o  (page_index),
    .page_i        (page),
    .named_o       (in_named),
    .contains_o    (in_contains),
    .low_o         (in_low),
    .address_o     (in_address)
  );
  atomic_check u_check (
    .qpn_i     (in_i.qpn),
    .opcode_i  (in_i.request.operation[3:0]),
    .to_i      (in_i.request.to),
    .epoch_i   (in_i.epoch),
    .pd_i      (in_i.pd),
    .stag_i    (in_stag_i),
    .named_i   (in_named),
    .contains_i(in_contains),
    .address_i (in_low),
    .refused_o (refused),
    .cause_o   (in_cause)
  );

  // The row of the page table that has the target's page: asked for as soon as the STag's entries are there. If the STag changes
  // before the request starts, that row is dropped when it comes, and another one is asked for.
  logic paged, asked_d, asked_q, stale, waits;
  always_comb begin
    unique case (page_index[1:0])
      2'd0: page = pages_i.page0;
      2'd1: page = pages_i.page1;
      2'd2: page = pages_i.page2;
      2'd3: page = pages_i.page3;
    endcase
  end
  assign paged         = in_valid_i && there && known && !refused && in_pages;
  assign pages_index_o = {2'b00, page_index[31:2]};
  assign stale         = in_valid_i && there && asked_q && pages_valid_i && (!paged || pages_row_i != pages_index_o);
  assign waits         = asked_q && !stale;
  assign pages_ask_o   = paged && !waits && pages_ready_i;
  assign found         = waits ? pages_valid_i : !paged;
  assign pages_drop_o  = stale || (waits && accepting);
  assign asked_d       = pages_ask_o || (waits && !accepting);

  assign event_valid_o = (answer_fails && answer_alive) || refusing;
  always_comb begin
    event_o      = '0;
    event_o.kind = rnic_messages_pkg::QpEventStreamError;
    if (refusing) begin
      event_o.qpn    = in_i.qpn;
      event_o.cause  = in_cause;
      event_o.failed = in_i.segment;
    end else begin
      event_o.qpn    = answer_qpn;
      event_o.cause  = rnic_messages_pkg::RdmaLocalCatastrophic;
    end
  end

  atomic_operations #(
    .Operations(Operations)
  ) u_operations (
    .clk_i,
    .rst_ni,
    .answer_i           (answering),
    .answer_index_i     (answer),
    .answer_qpn_o       (answer_qpn),
    .answer_epoch_o     (answer_epoch),
    .answer_request_o   (answer_request),
    .answer_original_o  (answer_original),
    .answer_ok_o        (answer_ok),
    .answer_writes_o    (answer_writes),
    .finish_i           (finishing),
    .finish_index_i     (finish),
    .finish_result_i    (value),
    .finish_writes_i    (write_valid_o),
    .finish_request_o   (finish_request),
    .finish_address_o   (finish_address),
    .finish_original_o  (finish_original),
    .finish_ok_o        (finish_ok),
    .finish_forwards_o  (forwards),
    .finish_next_o      (finish_next),
    .operand_i          (read_done_valid_i),
    .operand_index_i    (operand),
    .operand_original_i (read_done_data_i),
    .operand_ok_i       (read_done_i.ok),
    .start_i            (starting),
    .start_index_i      (start),
    .start_request_i    (in_i),
    .start_epoch_i      (in_i.epoch),
    .start_address_i    (in_address),
    .start_follows_o    (follows),
    .start_older_o      (older_index_o),
    .start_has_operand_o(has_operand)
  );

  // The entries of the table by what they wait for: a request, the pipeline, their result, their answer.
  logic                  ready, executing;
  logic [IndexWidth-1:0] execute;
  ring #(
    .Width  (IndexWidth),
    .Depth  (Operations),
    .Through(1),
    .Filled (1'b1)
  ) u_free (
    .clk_i,
    .rst_ni,
    .push_i (answering),
    .data_i (answer),
    .pop_i  (starting),
    .valid_o(free),
    .front_o(start)
  );
  ring #(
    .Width  (IndexWidth),
    .Depth  (Operations),
    .Pushes (3),
    .Through(2)  // what starts with its operand enters the pipeline in the next cycle
  ) u_ready (
    .clk_i,
    .rst_ni,
    .push_i ({starting && has_operand, read_done_valid_i, finishing && forwards}),
    .data_i ({start, operand, finish_next}),
    .pop_i  (ready),
    .valid_o(ready),
    .front_o(execute)
  );
  ring #(
    .Width(IndexWidth),
    .Depth(Operations)
  ) u_executing (
    .clk_i,
    .rst_ni,
    .push_i (ready),
    .data_i (execute),
    .pop_i  (finishing),
    .valid_o(executing),
    .front_o(finish)
  );
  ring #(
    .Width(IndexWidth),
    .Depth(Operations)
  ) u_unanswered (
    .clk_i,
    .rst_ni,
    .push_i (finishing),
    .data_i (finish),
    .pop_i  (answering),
    .valid_o(unanswered),
    .front_o(answer)
  );

  always_comb begin
    pipeline_d    = PipelineCycles'({pipeline_q, 1'b0});
    pipeline_d[0] = ready;
  end
  logic held_up_q;  // the request that is offered
  logic awake_q;  // something was done in the last cycle, or an interval went by
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      awake_q    <= 1'b0;
      asked_q    <= 1'b0;
      held_up_q  <= 1'b0;
      pipeline_q <= '0;
      waiting_q  <= '0;
      interval_q <= '0;
    end else begin
      asked_q    <= asked_d;
      held_up_q  <= holding_up || (held_up_q && !accepting);
      awake_q    <= answering || finishing || ready || accepting || holding_up || interval_q != 0;
      pipeline_q <= pipeline_d;
      waiting_q  <= waiting_d;
      interval_q <= interval_d;
    end
  end
  assign busy_o = awake_q || pipeline_q != 0;

  assign word_watch_o    = starting;
  assign word_index_o    = start;
  assign word_address_o  = in_address;
  assign word_follows_o  = follows;
  assign release_o       = answering;
  assign release_index_o = answer;

  assign fetch_add_o = answering && !answer_fails && !answer_request.operation[1];
  assign cmp_swap_o  = answering && !answer_fails && answer_request.operation[1];
  assign forwarded_o = starting && follows;
  assign held_up_o   = holding_up && !held_up_q;
  assign refused_o   = refusing;
  assign failed_o    = answer_fails;

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ResultOfOne_A  : assert (due == 0 || executing);
      TagOfARead_A   : assert (!read_done_valid_i || read_done_i.tag < Operations);
      TagOfAWrite_A  : assert (!written_valid_i || written_i.tag == 0);
      InOneWord_A    : assert (!starting || in_address[2:0] == 0);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      FetchAdd_C              : cover (fetch_add_o);
      CmpSwap_C               : cover (cmp_swap_o);
      Forwarded_C             : cover (forwarded_o);
      HeldUp_C                : cover (held_up_o);
      HeldUpTillAnswered_C    : cover (held_up_q && accepting && answering);
      Refused_C               : cover (refusing);
      InPages_C               : cover (starting && waits);
      PageOfAnEarlierTarget_C : cover (stale);
      StartsBehindItsPage_C   : cover (waits && !pages_valid_i && due_next);
      ReadFailed_C            : cover (failed_o);
      WritesNothing_C         : cover (finishing && finish_ok && !value_writes);
      ResultWaits_C           : cover (due != '0 && !write_ready_i);
      Full_C                  : cover (in_valid_i && !free);
      UnknownQp_C             : cover (accepting && !known);
      ReusedQp_C              : cover (answering && !answer_fails && !out_valid_o);
      AnswerWaits_C           : cover (unanswered && answer_writes && written_valid_i && !written_ready_o);
    end
  end
endmodule
