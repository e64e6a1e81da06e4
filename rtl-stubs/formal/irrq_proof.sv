// Requests of one QP are passed on in the order of their arrival, each once, one at a time. The held requests and the one
// being answered never exceed IRD, and the request beyond it is reported instead of held. One that is due but finds no place
// goes as soon as there is one. Two queue pairs, whose rows come at any time after they were asked for, any traffic; any QP and
// any request of it may be the watched one.
module irrq_proof #(
  parameter int unsigned PositionBits = 1
) (
  input logic       clk_i,
  input logic       in_valid,
  input logic       in_qp,
  input logic       in_atomic,
  input logic       in_mark,      // tells requests apart
  input logic       sent_valid,
  input logic       sent_qp,
  input logic       row_ready,    // the table takes an ask,
  input logic       row_there,    // and the row of the oldest one is there
  input logic       out_ready,
  input logic       atomic_ready,
  input logic       event_ready,
  input logic       watch
);
  localparam int unsigned Positions = 2 ** PositionBits;
  localparam int unsigned Sizes     = PositionBits + 1;

  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  // The watched QP and its IRD: any, and the same in every cycle.
  (* anyconst *) logic                  watched;
  (* anyconst *) logic [PositionBits:0] ird;

  // The asks, oldest first, each with its tag and QP.
  logic [1:0] tags = '0, qps = '0, asks = '0;
  logic       row_valid, row_tag, row_qp, row_ask, row_drop, row_tag_new;
  assign row_valid = asks != 0 && row_there;
  assign row_tag   = tags[0];
  assign row_qp    = qps[0];

  // The rows, and their lists: mark and kind, by QP and position.
  logic [2*Sizes-1:0]          sizes = '0;
  logic [2*PositionBits-1:0]   heads = '0;
  logic [1:0]                  busy  = '0, over = '0;
  logic [4*Positions-1:0]      lists = '0;
  logic [Sizes-1:0]            size;
  logic [PositionBits-1:0]     head;
  assign size = sizes[Sizes*row_qp+:Sizes];
  assign head = heads[PositionBits*row_qp+:PositionBits];

  // Requests that are due, oldest first: mark and QP. Each QP has one at most.
  logic [1:0] due_reads = '0, due_atomics = '0;
  logic [1:0] read_marks = '0, read_qps = '0, atomic_marks = '0, atomic_qps = '0;
  logic       read_push, read_pop, atomic_push, atomic_pop;

  rnic_messages_pkg::queued_request_t     in, oldest, request, due_read, due_atomic;
  rnic_messages_pkg::read_response_sent_t sent;
  rnic_messages_pkg::queued_read_t        out;
  rnic_messages_pkg::queued_atomic_t      atomic;
  rnic_messages_pkg::qp_event_t           event_out;
  rnic_messages_pkg::irrq_row_t           row;
  rnic_messages_pkg::qp_irrq_t            state;
  logic        in_ready, sent_ready, out_valid, atomic_valid, event_valid, state_write, push, pop, accepted, busy_out;
  logic [31:0] row_index;
  logic [16:0] held;

  logic [PositionBits:0] front, back;  // of the list, with its QP
  assign front = {row_qp, head};
  assign back  = {row_qp, head + size[PositionBits-1:0]};
  always_comb begin
    in                     = '0;
    in.qpn                 = 32'(in_qp);
    in.is_atomic           = in_atomic;
    in.segment.length      = 16'(in_mark);
    sent                   = '0;
    sent.qpn               = 32'(sent_qp);
    oldest                 = '0;
    oldest.qpn             = 32'(row_qp);
    oldest.segment.length  = 16'(lists[2*front]);
    oldest.is_atomic       = lists[2*front+1];
    row                    = '0;
    row.qp.valid           = 1'b1;
    row.qp.ird             = 16'(ird);
    row.state.waiting.size = 16'(size);
    row.state.busy         = busy[row_qp];
    row.state.overrun      = over[row_qp];
    due_read               = '0;
    due_read.qpn           = 32'(read_qps[0]);
    due_read.segment.length = 16'(read_marks[0]);
    due_atomic             = '0;
    due_atomic.qpn         = 32'(atomic_qps[0]);
    due_atomic.is_atomic   = 1'b1;
    due_atomic.segment.length = 16'(atomic_marks[0]);
  end

  irrq #(
    .Places(2)
  ) u_irrq (
    .clk_i,
    .rst_ni        (!in_reset),
    .in_valid_i    (in_valid),
    .in_ready_o    (in_ready),
    .in_i          (in),
    .sent_valid_i  (sent_valid),
    .sent_ready_o  (sent_ready),
    .sent_i        (sent),
    .out_ready_i   (out_ready),
    .out_valid_o   (out_valid),
    .out_o         (out),
    .atomic_ready_i(atomic_ready),
    .atomic_valid_o(atomic_valid),
    .atomic_o      (atomic),
    .event_ready_i (event_ready),
    .event_valid_o (event_valid),
    .event_o       (event_out),
    .busy_o        (busy_out),
    .row_ready_i   (row_ready),
    .row_ask_o     (row_ask),
    .row_index_o   (row_index),
    .row_tag_o     (row_tag_new),
    .row_valid_i   (row_valid),
    .row_tag_i     (row_tag),
    .row_i         (row),
    .row_drop_o    (row_drop),
    .state_write_o (state_write),
    .state_o       (state),
    .oldest_i      (oldest),
    .push_o        (push),
    .request_o     (request),
    .pop_o         (pop),
    .due_ready_i       (due_reads + due_atomics < 2),
    .due_read_valid_i  (due_reads != 0),
    .due_read_i        (due_read),
    .due_atomic_valid_i(due_atomics != 0),
    .due_atomic_i      (due_atomic),
    .due_read_push_o   (read_push),
    .due_atomic_push_o (atomic_push),
    .due_read_pop_o    (read_pop),
    .due_atomic_pop_o  (atomic_pop),
    .accepted_o    (accepted),
    .held_o        (held)
  );

  logic [1:0] left;  // asks, after this cycle's use
  assign left = asks - 2'(row_drop);
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (row_drop) begin
        tags <= tags >> 1;
        qps  <= qps >> 1;
      end
      if (row_ask) begin
        tags[left[0]] <= row_tag_new;
        qps[left[0]]  <= row_index[0];
      end
      asks <= left + 2'(row_ask);
      if (state_write) begin
        busy[row_qp]                             <= state.busy;
        over[row_qp]                             <= state.overrun;
        sizes[Sizes*row_qp+:Sizes]               <= size + Sizes'(push) - Sizes'(pop);
        heads[PositionBits*row_qp+:PositionBits] <= head + PositionBits'(pop);
      end
      if (push) begin
        lists[2*back]   <= request.segment.length[0];
        lists[2*back+1] <= request.is_atomic;
      end
    end
  end

  // The lists of what is due.
  logic       new_mark;
  logic [1:0] reads_left, atomics_left;
  assign new_mark     = pop ? lists[2*front] : request.segment.length[0];
  assign reads_left   = due_reads - 2'(read_pop);
  assign atomics_left = due_atomics - 2'(atomic_pop);
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (read_pop) begin
        read_marks <= read_marks >> 1;
        read_qps   <= read_qps >> 1;
      end
      if (read_push) begin
        read_marks[reads_left[0]] <= new_mark;
        read_qps[reads_left[0]]   <= row_qp;
      end
      if (atomic_pop) begin
        atomic_marks <= atomic_marks >> 1;
        atomic_qps   <= atomic_qps >> 1;
      end
      if (atomic_push) begin
        atomic_marks[atomics_left[0]] <= new_mark;
        atomic_qps[atomics_left[0]]   <= row_qp;
      end
      due_reads   <= reads_left + 2'(read_push);
      due_atomics <= atomics_left + 2'(atomic_push);
    end
  end
  logic due;  // the watched QP's
  assign due = (due_reads != 0 && read_qps[0] == watched) || (due_reads == 2 && read_qps[1] == watched) ||
               (due_atomics != 0 && atomic_qps[0] == watched) || (due_atomics == 2 && atomic_qps[1] == watched);

  // What was taken and is not executed, in order: requests of the watched QP, and responses of it that have left. No more than
  // two events wait for their rows.
  logic [1:0] queued_request = '0, queued_sent = '0, queued_mark = '0, queued_atomic = '0;
  logic       comes, goes, returns, holds, came_mark, came_atomic;
  assign comes       = row_drop && queued_request[0] && row_qp == watched;
  assign returns     = row_drop && queued_sent[0] && row_qp == watched;
  assign came_mark   = queued_mark[0];
  assign came_atomic = queued_atomic[0];
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (row_drop) begin
        queued_request <= queued_request >> 1;
        queued_sent    <= queued_sent >> 1;
        queued_mark    <= queued_mark >> 1;
        queued_atomic  <= queued_atomic >> 1;
      end
      if (row_ask) begin
        queued_request[left[0]] <= in_valid && in_ready;
        queued_sent[left[0]]    <= sent_valid && sent_ready;
        queued_mark[left[0]]    <= in_mark;
        queued_atomic[left[0]]  <= in_atomic;
      end
    end
  end

  // A model of the watched QP's queue: waiting requests, one being answered, and the end of the stream.
  logic [PositionBits+1:0] waiting = '0;
  logic                    answering = 1'b0, ended = 1'b0;
  assign goes  = (out_valid && out.qpn == 32'(watched)) || (atomic_valid && atomic.qpn == 32'(watched));
  assign holds = comes && !ended && waiting + (PositionBits + 2)'(answering) < (PositionBits + 2)'(ird);
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      waiting   <= waiting + (PositionBits + 2)'(holds) - (PositionBits + 2)'(goes);
      answering <= goes || (answering && !returns);
      ended     <= ended || (comes && !holds);
    end
  end

  // The watched request, and how many are ahead of it.
  logic                    watching = 1'b0, mark = 1'b0, kind = 1'b0;
  logic [PositionBits+1:0] ahead = '0;
  logic                    begins, at_once;
  assign begins  = holds && watch && !watching;
  assign at_once = begins && goes && waiting == 0;  // nobody waits before it
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (begins) begin
        watching <= !at_once;
        ahead    <= waiting - (PositionBits + 2)'(goes);
        mark     <= came_mark;
        kind     <= came_atomic;
      end else if (watching && goes) begin
        watching <= ahead != 0;
        ahead    <= ahead - 1'b1;
      end
    end
  end
  logic as_atomic;
  assign as_atomic = atomic_valid && atomic.qpn == 32'(watched);
  logic turn, turn_mark, turn_kind;  // the one that is passed on is the watched one
  assign turn      = watching ? ahead == 0 : at_once;
  assign turn_mark = watching ? mark : came_mark;
  assign turn_kind = watching ? kind : came_atomic;

  // The responders answer only requests that they were given, the other QP's too, and each once.
  logic other_answering = 1'b0, other_goes, told = 1'b0, other_told = 1'b0;
  assign other_goes = (out_valid && out.qpn != 32'(watched)) || (atomic_valid && atomic.qpn != 32'(watched));
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      told            <= (told || (sent_valid && sent_ready && sent_qp == watched)) && !returns;
      other_told      <= (other_told || (sent_valid && sent_ready && sent_qp != watched)) &&
                         !(row_drop && queued_sent[0] && row_qp != watched);
      other_answering <= other_goes || (other_answering && !(row_drop && queued_sent[0] && row_qp != watched));
    end
  end

  always_comb begin
    assume (ird != 0 && 32'(ird) <= Positions);
    if (in_reset) begin
      assume (!in_valid && !sent_valid);
    end else begin
      assume (!sent_valid || (sent_qp == watched ? answering && !told : other_answering && !other_told));
      NothingMadeUp_A  : assert (!goes || (waiting != 0 && (returns || (due && !answering))) || (holds && !answering && waiting == 0));
      OneAtATime_A     : assert (!(out_valid && atomic_valid) || out.qpn != atomic.qpn);
      NeverAboveIrd_A  : assert (waiting + (PositionBits + 2)'(answering) <= (PositionBits + 2)'(ird));
      OnlyBeyondIrd_A  : assert (!comes || event_valid == (!holds && !ended));
      HeldOrReported_A : assert (!comes || accepted == holds);
      InOrder_A        : assert (!goes || !turn || (as_atomic ? atomic.segment.length : out.segment.length) == 16'(turn_mark));
      OfItsKind_A      : assert (!goes || !turn || as_atomic == turn_kind);
      NoneIsForgotten_A: assert (waiting == 0 || answering || due);
      GoesWhenItCan_A  : assert ((!out_ready || due_reads == 0 || read_pop) && (!atomic_ready || due_atomics == 0 || atomic_pop));
      RoomForAll_A     : assert (due_reads + due_atomics <= 2);
    end
  end
endmodule
