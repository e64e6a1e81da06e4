// The n-th Atomic Response of a queue pair answers its n-th Atomic Request, and each request is answered, written and
// reported as done exactly once, in the order of the writes. A response that finds no waiting request, names another
// request, or has lost its buffer raises an event and ends the matching of its QP. Two queue pairs with up to two requests
// each, whose rows come at any time after they were asked for, any traffic; any QP and any request of it may be the watched one.
module response_queue_proof (
  input logic clk_i,
  input logic issued_valid,
  input logic issued_qp,
  input logic issued_id,
  input logic in_valid,
  input logic in_qp,
  input logic in_id,
  input logic request_ready,   // the table of rows takes an ask for a request, of which one at a time is asked for,
  input logic request_there,   // and the row of the oldest one is there
  input logic response_ready,  // the same for a response, of which one at a time is asked for
  input logic response_there,
  input logic buffer_there,  // the response's buffer still exists under its key
  input logic stag_ready,    // the table of STags takes an ask; the row comes at any time, as long as one is waited for
  input logic stag_there,
  input logic dma_ready,
  input logic written_valid,
  input logic done_ready,
  input logic unblock_ready,
  input logic event_ready,
  input logic watch
);
  localparam int unsigned Ord       = 2;

  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  (* anyconst *) logic watched;

  // The rows, and their lists: identifiers, by QP and position.
  logic [3:0] sizes     = '0;
  logic [1:0] heads     = '0, stopped = '0;
  logic [3:0] requests  = '0;
  logic [3:0] under_way = '0;  // QPs of writes

  // The asks for them, oldest first, each with its tag and QP; and the responses' identifiers.
  logic [1:0] request_tags = '0, request_qps = '0, request_asks = '0;
  logic [1:0] response_tags = '0, response_qps = '0, response_asks = '0, ids = '0;
  logic       request_valid, response_valid, request_qp, response_qp;
  assign request_valid  = request_asks != 0 && request_there;
  assign response_valid = response_asks != 0 && response_there;
  assign request_qp     = request_qps[0];
  assign response_qp    = response_qps[0];

  rnic_messages_pkg::atomic_issued_t     issued, oldest, stored;
  rnic_messages_pkg::orq_row_t           request_row, response_row;
  rnic_messages_pkg::qp_orq_t            request_state, response_state;
  rnic_messages_pkg::delivered_atomic_t  in;
  rnic_messages_pkg::dma_write_request_t dma;
  rnic_messages_pkg::dma_write_done_t    written;
  rnic_messages_pkg::atomic_done_t       done;
  rnic_messages_pkg::tx_unblock_t        unblock;
  rnic_messages_pkg::qp_event_t          event_out;
  rnic_messages_pkg::stag_context_t      stag;
  logic issued_ready, in_ready, dma_valid, written_ready, done_valid, unblock_valid, event_valid, stag_ask, stag_drop;
  logic under_way_write, busy_out;
  logic request_ask, request_tag, request_drop, request_write, response_ask, response_tag, response_drop, response_write, response_pop;
  logic [1:0]  under_way_index, under_way_write_index;
  logic [63:0] under_way_new;
  logic [23:0] stag_index;
  logic [31:0] request_index, response_index;
  logic [63:0] value;

  always_comb begin
    issued                 = '0;
    issued.qpn             = 32'(issued_qp);
    issued.request_id      = 32'(issued_id);
    oldest                 = '0;
    oldest.qpn             = 32'(response_qp);
    oldest.request_id      = 32'(requests[{response_qp, heads[response_qp]}]);
    request_row                         = '0;
    request_row.qp.valid                = 1'b1;
    request_row.state.outstanding.size  = 16'(sizes[2*request_qp+:2]);
    request_row.state.stopped           = stopped[request_qp];
    response_row                        = '0;
    response_row.qp.valid               = 1'b1;
    response_row.state.outstanding.size = 16'(sizes[2*response_qp+:2]);
    response_row.state.stopped          = stopped[response_qp];
    in                     = '0;
    in.qpn                 = 32'(in_qp);
    in.response.request_id = 32'(in_id);
    written                = '0;
    stag                   = '0;
    stag.valid             = buffer_there;
    stag.kind              = rnic_messages_pkg::StagRegion;
    stag.length            = 64'd8;
    stag.access            = '1;
  end

  response_queue #(
    .WriteBits(2),
    .Places   (2)
  ) u_queue (
    .clk_i,
    .rst_ni                 (!in_reset),
    .issued_valid_i         (issued_valid),
    .issued_ready_o         (issued_ready),
    .issued_i               (issued),
    .in_valid_i             (in_valid),
    .in_ready_o             (in_ready),
    .in_i                   (in),
    .dma_ready_i            (dma_ready),
    .dma_valid_o            (dma_valid),
    .dma_o                  (dma),
    .dma_value_o            (value),
    .written_valid_i        (written_valid),
    .written_ready_o        (written_ready),
    .written_i              (written),
    .done_ready_i           (done_ready),
    .done_valid_o           (done_valid),
    .done_o                 (done),
    .unblock_ready_i        (unblock_ready),
    .unblock_valid_o        (unblock_valid),
    .unblock_o              (unblock),
    .event_ready_i          (event_ready),
    .event_valid_o          (event_valid),
    .event_o                (event_out),
    .busy_o                 (busy_out),
    .under_way_index_o      (under_way_index),
    .under_way_i            ({31'd0, under_way[under_way_index], 32'd0}),
    .under_way_write_o      (under_way_write),
    .under_way_write_index_o(under_way_write_index),
    .under_way_o            (under_way_new),
    .one_port_i             (1'b0),
    .request_row_ready_i    (request_ready && request_asks == 0),
    .request_row_ask_o      (request_ask),
    .request_row_index_o    (request_index),
    .request_row_tag_o      (request_tag),
    .request_row_valid_i    (request_valid),
    .request_row_tag_i      (request_tags[0]),
    .request_row_i          (request_row),
    .request_row_drop_o     (request_drop),
    .request_write_o        (request_write),
    .request_state_o        (request_state),
    .request_o              (stored),
    .response_row_ready_i   (response_ready && response_asks == 0),
    .response_row_ask_o     (response_ask),
    .response_row_index_o   (response_index),
    .response_row_tag_o     (response_tag),
    .response_row_valid_i   (response_valid),
    .response_row_tag_i     (response_tags[0]),
    .response_row_i         (response_row),
    .response_row_drop_o    (response_drop),
    .response_write_o       (response_write),
    .response_state_o       (response_state),
    .response_pop_o         (response_pop),
    .oldest_i               (oldest),
    .stag_ready_i           (stag_ready),
    .stag_ask_o             (stag_ask),
    .stag_index_o           (stag_index),
    .stag_valid_i           (stag_there),
    .stag_row_i             (stag_index),
    .stag_i                 (stag),
    .stag_drop_o            (stag_drop)
  );

  logic [1:0] request_left, response_left;  // asks, after this cycle's use
  assign request_left  = request_asks - 2'(request_drop);
  assign response_left = response_asks - 2'(response_drop);
  logic back;  // of the list of a request's QP
  assign back = heads[request_qp] + sizes[2*request_qp];
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (request_drop) begin
        request_tags <= request_tags >> 1;
        request_qps  <= request_qps >> 1;
      end
      if (request_ask) begin
        request_tags[request_left[0]] <= request_tag;
        request_qps[request_left[0]]  <= request_index[0];
      end
      if (response_drop) begin
        response_tags <= response_tags >> 1;
        response_qps  <= response_qps >> 1;
        ids           <= ids >> 1;
      end
      if (response_ask) begin
        response_tags[response_left[0]] <= response_tag;
        response_qps[response_left[0]]  <= response_index[0];
        ids[response_left[0]]           <= in_id;
      end
      request_asks  <= request_left + 2'(request_ask);
      response_asks <= response_left + 2'(response_ask);
      if (response_write) begin
        stopped[response_qp]    <= response_state.stopped;
        heads[response_qp]      <= heads[response_qp] + response_pop;
        sizes[2*response_qp+:2] <= sizes[2*response_qp+:2] - 2'(response_pop);
      end
      if (request_write) begin
        sizes[2*request_qp+:2]       <= sizes[2*request_qp+:2] + 2'd1;
        requests[{request_qp, back}] <= stored.request_id[0];
      end
      if (under_way_write) under_way[under_way_write_index] <= under_way_new[32];
    end
  end

  // The watched QP: requests that wait for their response, and the end of its matching.
  logic [2:0] waiting = '0;
  logic       over = 1'b0;
  logic       issues, comes, pairs, id_now;
  assign issues  = issued_valid && issued_ready && issued_qp == watched;
  assign comes   = response_drop && response_qp == watched;
  assign pairs = comes && dma_valid;
  assign id_now  = ids[0];

  // The watched request, and how many are ahead of it.
  logic       watching = 1'b0, id = 1'b0;
  logic [2:0] ahead = '0;
  logic       turn, answers;  // the next response is for the watched request; one is answered
  assign turn    = watching && ahead == 0;
  assign answers = comes && !over && waiting != 0;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      waiting <= waiting + 3'(issues) - 3'(answers);
      over    <= over || (comes && !pairs);
      if (!watching && issues && watch) begin
        watching <= 1'b1;
        ahead    <= waiting - 3'(answers);
        id       <= issued_id;
      end else if (watching && comes && !over) begin
        watching <= ahead != 0;
        ahead    <= ahead - 1'b1;
      end
    end
  end

  // Writes under way, oldest first, and each QP's outstanding requests.
  logic [3:0] order = '0, order_d;
  logic [2:0] writes = '0, left;
  logic [2:0] outstanding_0 = '0, outstanding_1 = '0;
  logic       reported;
  assign reported = written_valid && written_ready;
  assign left     = writes - 3'(reported);
  always_comb begin
    order_d = reported ? order >> 1 : order;
    if (dma_valid) order_d[left[1:0]] = response_qp;
  end
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      order         <= order_d;
      writes        <= left + 3'(dma_valid);
      outstanding_0 <= outstanding_0 + 3'(issued_valid && issued_ready && !issued_qp) - 3'(done_valid && done.qpn == 0);
      outstanding_1 <= outstanding_1 + 3'(issued_valid && issued_ready && issued_qp) - 3'(done_valid && done.qpn == 1);
    end
  end

  always_comb begin
    if (in_reset) begin
      assume (!issued_valid && !in_valid && !written_valid);
    end else begin
      assume (!issued_valid || (issued_qp ? outstanding_1 : outstanding_0) < 3'(Ord));
      assume (!written_valid || writes != 0);
      NothingMadeUp_A    : assert (!dma_valid || response_drop);
      NoneWaits_A        : assert (!comes || over || waiting != 0 || (event_valid && !dma_valid));
      ItsOwn_A           : assert (!comes || over || !turn || dma_valid == (id_now == id && buffer_there));
      MatchOrEvent_A     : assert (!comes || over || dma_valid != event_valid);
      NothingAfterwards_A: assert (!comes || !over || (!dma_valid && !event_valid));
      DoneOnce_A         : assert (done_valid == reported && unblock_valid == reported);
      DoneInOrder_A      : assert (!done_valid || (done.qpn == 32'(order[0]) && unblock.qpn == 32'(order[0])));
      WithinOrd_A        : assert (writes <= 3'(2 * Ord));
    end
  end
endmodule
