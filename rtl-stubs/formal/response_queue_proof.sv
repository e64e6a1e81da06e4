// The n-th Atomic Response of a queue pair answers its n-th Atomic Request, and each request is answered, written and
// reported as done exactly once, in the order of the writes. A response that finds no waiting request, names another
// request, or has lost its buffer raises an event and ends the matching of its QP. Two queue pairs with up to two requests
// each, their tables beside the block, any traffic; any QP and any request of it may be the watched one.
module response_queue_proof (
  input logic clk_i,
  input logic issued_valid,
  input logic issued_qp,
  input logic issued_id,
  input logic in_valid,
  input logic in_qp,
  input logic in_id,
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
  localparam int unsigned StateBits = 36;
  localparam int unsigned Ord       = 2;

  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  (* anyconst *) logic watched;

  // The tables.
  logic [2*StateBits-1:0] states    = '0;
  logic [3:0]             requests  = '0;  // identifiers, by QP and position
  logic [3:0]             under_way = '0;  // QPs of writes

  rnic_messages_pkg::atomic_issued_t     issued, request, stored;
  rnic_messages_pkg::delivered_atomic_t  in;
  rnic_messages_pkg::dma_write_request_t dma;
  rnic_messages_pkg::dma_write_done_t    written;
  rnic_messages_pkg::atomic_done_t       done;
  rnic_messages_pkg::tx_unblock_t        unblock;
  rnic_messages_pkg::qp_event_t          event_out;
  rnic_messages_pkg::stag_context_t      stag;
  logic issued_ready, in_ready, dma_valid, written_ready, done_valid, unblock_valid, event_valid, stag_ask, stag_drop;
  logic issued_index, issued_write, in_index, in_write, request_write, under_way_write, written_index;
  logic [1:0]           request_index, request_write_index, under_way_index, under_way_write_index;
  logic [StateBits-1:0] issued_state, in_state;
  logic [32:0]          under_way_new;
  logic [23:0]          stag_index;
  logic [31:0]          page_index;
  logic [63:0]          value;

  always_comb begin
    issued                 = '0;
    issued.qpn             = 32'(issued_qp);
    issued.request_id      = 32'(issued_id);
    request                = '0;
    request.qpn            = 32'(request_index[1]);
    request.request_id     = 32'(requests[request_index]);
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
    .QpBits      (1),
    .PositionBits(1),
    .WriteBits   (2)
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
    .under_way_index_o      (under_way_index),
    .under_way_i            ({under_way[under_way_index], 32'd0}),
    .written_index_o        (written_index),
    .written_epoch_i        (32'd0),
    .under_way_write_o      (under_way_write),
    .under_way_write_index_o(under_way_write_index),
    .under_way_o            (under_way_new),
    .issued_index_o         (issued_index),
    .issued_epoch_i         (32'd0),
    .issued_state_i         (states[StateBits*issued_index+:StateBits]),
    .issued_write_o         (issued_write),
    .issued_state_o         (issued_state),
    .in_index_o             (in_index),
    .in_exists_i            (1'b1),
    .in_pd_i                (32'd0),
    .in_epoch_i             (32'd0),
    .in_state_i             (states[StateBits*in_index+:StateBits]),
    .in_write_o             (in_write),
    .in_state_o             (in_state),
    .request_index_o        (request_index),
    .request_i              (request),
    .request_write_o        (request_write),
    .request_write_index_o  (request_write_index),
    .request_o              (stored),
    .stag_ready_i           (stag_ready),
    .stag_ask_o             (stag_ask),
    .stag_index_o           (stag_index),
    .stag_valid_i           (stag_there),
    .stag_row_i             (stag_index),
    .stag_i                 (stag),
    .stag_drop_o            (stag_drop)
  );

  // The last of several writes to one entry wins.
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (issued_write)    states[StateBits*issued_index+:StateBits] <= issued_state;
      if (in_write)        states[StateBits*in_index+:StateBits]     <= in_state;
      if (request_write)   requests[request_write_index]             <= stored.request_id[0];
      if (under_way_write) under_way[under_way_write_index]          <= under_way_new[32];
    end
  end

  // The watched QP: requests that wait for their response, and the end of its matching.
  logic [2:0] waiting = '0, now_waiting;
  logic       over = 1'b0;
  logic       issues, comes, matches;
  assign issues      = issued_valid && issued_qp == watched;
  assign comes       = in_valid && in_ready && in_qp == watched;
  assign now_waiting = waiting + 3'(issues);  // a response may come in the cycle of its request
  assign matches     = comes && dma_valid;

  // The watched request, and how many are ahead of it.
  logic       watching = 1'b0, id = 1'b0;
  logic [2:0] ahead = '0;
  logic       turn, turn_id;  // the next response is for the watched request
  assign turn    = watching ? ahead == 0 : issues && watch && waiting == 0;
  assign turn_id = watching ? id : issued_id;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      waiting <= now_waiting - 3'(comes && !over && now_waiting != 0);
      over    <= over || (comes && !matches);
      if (!watching && issues && watch) begin
        watching <= !(comes && waiting == 0);
        ahead    <= waiting - 3'(comes && !over && waiting != 0);
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
    if (dma_valid) order_d[left[1:0]] = in_qp;
  end
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      order         <= order_d;
      writes        <= left + 3'(dma_valid);
      outstanding_0 <= outstanding_0 + 3'(issued_valid && !issued_qp) - 3'(done_valid && done.qpn == 0);
      outstanding_1 <= outstanding_1 + 3'(issued_valid && issued_qp) - 3'(done_valid && done.qpn == 1);
    end
  end

  always_comb begin
    if (in_reset) begin
      assume (!issued_valid && !in_valid && !written_valid);
    end else begin
      assume (!issued_valid || (issued_qp ? outstanding_1 : outstanding_0) < 3'(Ord));
      assume (!written_valid || writes != 0);
      EveryIssueTaken_A  : assert (issued_ready);
      NothingMadeUp_A    : assert (!dma_valid || (in_valid && in_ready));
      NoneWaits_A        : assert (!comes || over || now_waiting != 0 || (event_valid && !dma_valid));
      ItsOwn_A           : assert (!comes || over || !turn || dma_valid == (in_id == turn_id && buffer_there));
      MatchOrEvent_A     : assert (!comes || over || dma_valid != event_valid);
      NothingAfterwards_A: assert (!comes || !over || (!dma_valid && !event_valid));
      DoneOnce_A         : assert (done_valid == reported && unblock_valid == reported);
      DoneInOrder_A      : assert (!done_valid || (done.qpn == 32'(order[0]) && unblock.qpn == 32'(order[0])));
      WithinOrd_A        : assert (writes <= 3'(2 * Ord));
    end
  end
endmodule
