// Requests of one QP are passed on in the order of their arrival, each once, one at a time. The held requests and the one
// being answered never exceed IRD, and the request beyond it is reported instead of held. Two queue pairs, their tables
// beside the block, any traffic; any QP and any request of it may be the watched one.
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
  input logic       out_ready,
  input logic       atomic_ready,
  input logic       event_ready,
  input logic       watch
);
  localparam int unsigned StateBits = 36 + 2 * PositionBits;
  localparam int unsigned Positions = 2 ** PositionBits;

  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  // The watched QP and its IRD: any, and the same in every cycle.
  (* anyconst *) logic                watched;
  (* anyconst *) logic [PositionBits:0] ird;

  // The tables.
  logic [2*StateBits-1:0]   states  = '0;
  logic [1:0]               ring    = '0;
  logic [4*Positions-1:0]   requests = '0;  // mark and kind, by QP and position

  rnic_messages_pkg::queued_request_t     in, request, stored;
  rnic_messages_pkg::read_response_sent_t sent;
  rnic_messages_pkg::queued_read_t        out;
  rnic_messages_pkg::queued_atomic_t      atomic;
  rnic_messages_pkg::qp_event_t           event_out;
  logic in_ready, sent_ready, out_valid, atomic_valid, event_valid, busy;
  logic turn_index, free_turn_write, free_turn_index, free_turn, accept_turn_write, accept_turn_index, accept_turn;
  logic serve_index, serve_write, free_index, free_write, accept_index, accept_write, request_write;
  logic [StateBits-1:0]  serve_state, free_state, accept_state;
  logic [PositionBits:0] held, request_index, request_write_index;

  always_comb begin
    in                     = '0;
    in.qpn                 = 32'(in_qp);
    in.is_atomic           = in_atomic;
    in.segment.length      = 16'(in_mark);
    sent.qpn               = 32'(sent_qp);
    request                = '0;
    request.qpn            = 32'(request_index[PositionBits]);
    request.segment.length = 16'(requests[2*request_index]);
    request.is_atomic      = requests[2*request_index+1];
  end

  irrq #(
    .QpBits      (1),
    .PositionBits(PositionBits)
  ) u_irrq (
    .clk_i,
    .rst_ni               (!in_reset),
    .in_valid_i           (in_valid),
    .in_ready_o           (in_ready),
    .in_i                 (in),
    .sent_valid_i         (sent_valid),
    .sent_ready_o         (sent_ready),
    .sent_i               (sent),
    .out_ready_i          (out_ready),
    .out_valid_o          (out_valid),
    .out_o                (out),
    .atomic_ready_i       (atomic_ready),
    .atomic_valid_o       (atomic_valid),
    .atomic_o             (atomic),
    .event_ready_i        (event_ready),
    .event_valid_o        (event_valid),
    .event_o              (event_out),
    .busy_o               (busy),
    .turn_index_o         (turn_index),
    .turn_i               (ring[turn_index]),
    .free_turn_write_o    (free_turn_write),
    .free_turn_index_o    (free_turn_index),
    .free_turn_o          (free_turn),
    .accept_turn_write_o  (accept_turn_write),
    .accept_turn_index_o  (accept_turn_index),
    .accept_turn_o        (accept_turn),
    .serve_index_o        (serve_index),
    .serve_epoch_i        (32'd0),
    .serve_state_i        (states[StateBits*serve_index+:StateBits]),
    .serve_write_o        (serve_write),
    .serve_state_o        (serve_state),
    .free_index_o         (free_index),
    .free_epoch_i         (32'd0),
    .free_state_i         (states[StateBits*free_index+:StateBits]),
    .free_write_o         (free_write),
    .free_state_o         (free_state),
    .accept_index_o       (accept_index),
    .accept_exists_i      (1'b1),
    .accept_ird_i         (16'(ird)),
    .accept_epoch_i       (32'd0),
    .accept_state_i       (states[StateBits*accept_index+:StateBits]),
    .accept_write_o       (accept_write),
    .accept_state_o       (accept_state),
    .accept_held_o        (held),
    .request_index_o      (request_index),
    .request_i            (request),
    .request_write_o      (request_write),
    .request_write_index_o(request_write_index),
    .request_o            (stored)
  );

  // The last of several writes to one entry wins.
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (serve_write)       states[StateBits*serve_index+:StateBits]  <= serve_state;
      if (free_write)        states[StateBits*free_index+:StateBits]   <= free_state;
      if (accept_write)      states[StateBits*accept_index+:StateBits] <= accept_state;
      if (free_turn_write)   ring[free_turn_index]   <= free_turn;
      if (accept_turn_write) ring[accept_turn_index] <= accept_turn;
      if (request_write) begin
        requests[2*request_write_index]   <= stored.segment.length[0];
        requests[2*request_write_index+1] <= stored.is_atomic;
      end
    end
  end

  // A model of the watched QP's queue: waiting requests, one being answered, and the end of the stream.
  logic [PositionBits+1:0] waiting = '0;
  logic                    answering = 1'b0, over = 1'b0;
  logic                    comes, goes, returns, holds;
  assign comes   = in_valid && in_ready && in_qp == watched;
  assign goes    = (out_valid && out.qpn == 32'(watched)) || (atomic_valid && atomic.qpn == 32'(watched));
  assign returns = sent_valid && sent_ready && sent_qp == watched;
  // A response that has left makes room for a request in the same cycle.
  assign holds   = comes && !over && waiting + (PositionBits + 2)'(answering && !returns) < (PositionBits + 2)'(ird);
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      waiting   <= waiting + (PositionBits + 2)'(holds) - (PositionBits + 2)'(goes);
      answering <= goes || (answering && !returns);
      over      <= over || (comes && !holds);
    end
  end

  // The watched request, and how many are ahead of it.
  logic                    watching = 1'b0, mark = 1'b0, kind = 1'b0;
  logic [PositionBits+1:0] ahead = '0;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (holds && watch && !watching) begin
        watching <= 1'b1;
        ahead    <= waiting - (PositionBits + 2)'(goes);
        mark     <= in_mark;
        kind     <= in_atomic;
      end else if (watching && goes) begin
        watching <= ahead != 0;
        ahead    <= ahead - 1'b1;
      end
    end
  end

  // The responders answer only requests that they were given, the other QP's too.
  logic other_answering = 1'b0, other_goes;
  assign other_goes = (out_valid || atomic_valid) && !goes;
  always_ff @(posedge clk_i) begin
    if (!in_reset) other_answering <= other_goes || (other_answering && !(sent_valid && sent_qp != watched));
  end

  always_comb begin
    assume (ird != 0 && 32'(ird) <= Positions);
    if (in_reset) begin
      assume (!in_valid && !sent_valid);
    end else begin
      assume (!sent_valid || (sent_qp == watched ? answering : other_answering));
      NothingMadeUp_A  : assert (!goes || (waiting != 0 && !answering));
      NeverAboveIrd_A  : assert (waiting + (PositionBits + 2)'(answering) <= (PositionBits + 2)'(ird));
      OnlyBeyondIrd_A  : assert (!comes || event_valid == (!holds && !over));
      HeldOrReported_A : assert (!comes || request_write == holds);
      InOrder_A        : assert (!goes || !watching || ahead != 0 ||
                                 (atomic_valid ? atomic.segment.length : out.segment.length) == 16'(mark));
      OfItsKind_A      : assert (!goes || !watching || ahead != 0 || atomic_valid == kind);
    end
  end
endmodule
