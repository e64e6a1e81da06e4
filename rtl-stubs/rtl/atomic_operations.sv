// The atomics in flight, and who waits for whom at one address: an address compare over all of them finds the youngest.
// An entry is written when its atomic starts, when its operand comes, and when it is finished; it is answered last. What
// is written in a cycle is what the later ones of these steps see in it.
module atomic_operations
#(
  parameter int unsigned Operations = 64,
  parameter int unsigned IndexWidth = Operations > 1 ? $clog2(Operations) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // The last step of one: it is nobody's predecessor any more.
  input  logic                  answer_i,
  input  logic [IndexWidth-1:0] answer_index_i,
  output logic [31:0]           answer_qpn_o,
  output logic [31:0]           answer_epoch_o,
  output rnic_messages_pkg::atomic_request_t       answer_request_o,
  output logic [63:0]           answer_original_o,
  output logic                  answer_ok_o,
  output logic                  answer_writes_o,
  // One has a result. It is the operand of the next one at the address.
  input  logic                  finish_i,
  input  logic [IndexWidth-1:0] finish_index_i,
  input  logic [63:0]           finish_result_i,
  input  logic                  finish_writes_i,
  output rnic_messages_pkg::atomic_request_t       finish_request_o,
  output logic [63:0]           finish_address_o,
  output logic [63:0]           finish_original_o,
  output logic                  finish_ok_o,
  output logic                  finish_forwards_o,
  output logic [IndexWidth-1:0] finish_next_o,
  // Host memory gave the operand of one.
  input  logic                  operand_i,
  input  logic [IndexWidth-1:0] operand_index_i,
  input  logic [63:0]           operand_original_i,
  input  logic                  operand_ok_i,
  // A new one. It reads memory unless another one is in flight at its address, and has its operand if that has a result.
  input  logic                  start_i,
  input  logic [IndexWidth-1:0] start_index_i,
  input  rnic_messages_pkg::queued_atomic_t        start_request_i,
  input  logic [31:0]           start_epoch_i,
  input  logic [63:0]           start_address_i,
  output logic                  start_follows_o,
  output logic [IndexWidth-1:0] start_older_o,
  output logic                  start_has_operand_o
);
  localparam int unsigned RequestWidth = $bits(finish_request_o);

  logic [31:0]              qpns_q[Operations];
  logic [31:0]              epochs_q[Operations];
  logic [RequestWidth-1:0]  requests_q[Operations];
  logic [63:0]              addresses_q[Operations];
  logic [63:0]              originals_q[Operations];
  logic [63:0]              results_q[Operations];
  logic [IndexWidth-1:0]    nexts_q[Operations];     // the younger one that waits for the result, with has_next
  logic [Operations-1:0]    has_next_d, has_next_q;
  logic [Operations-1:0]    newest_d, newest_q;      // the youngest in flight at its address
  logic [Operations-1:0]    ok_d, ok_q;              // host memory could be read
  logic [Operations-1:0]    executed_d, executed_q;
  logic [Operations-1:0]    writes_d, writes_q;

  assign answer_qpn_o      = qpns_q[answer_index_i];
  assign answer_epoch_o    = epochs_q[answer_index_i];
  assign answer_request_o  = requests_q[answer_index_i];
  assign answer_original_o = originals_q[answer_index_i];
  assign answer_ok_o       = ok_q[answer_index_i];
  assign answer_writes_o   = writes_q[answer_index_i];
  assign finish_request_o  = requests_q[finish_index_i];
  assign finish_address_o  = addresses_q[finish_index_i];
  assign finish_original_o = originals_q[finish_index_i];
  assign finish_ok_o       = ok_q[finish_index_i];
  assign finish_next_o     = nexts_q[finish_index_i];
  assign finish_forwards_o = has_next_q[finish_index_i];

  // At most one is the newest at an address.
  logic [Operations-1:0] at_address;
  logic [IndexWidth-1:0] older;
  logic                  finishes_older;
  always_comb begin
    at_address = '0;
    older      = '0;
    for (int unsigned i = 0; i < Operations; i++) begin
      at_address[i] = newest_q[i] && addresses_q[i] == start_address_i && !(answer_i && i == 32'(answer_index_i));
      if (at_address[i]) older = IndexWidth'(i);
    end
  end
  assign finishes_older      = finish_i && finish_index_i == older;
  assign start_follows_o     = |at_address;
  assign start_older_o       = older;
  assign start_has_operand_o = start_follows_o && (executed_q[older] || finishes_older);

  always_comb begin
    has_next_d = has_next_q;
    newest_d   = newest_q;
    ok_d       = ok_q;
    executed_d = executed_q;
    writes_d   = writes_q;
    if (answer_i) newest_d[answer_index_i] = 1'b0;
    if (finish_i) begin
      executed_d[finish_index_i] = 1'b1;
      writes_d[finish_index_i]   = finish_writes_i;
      if (finish_forwards_o) ok_d[finish_next_o] = finish_ok_o;
    end
    if (operand_i) ok_d[operand_index_i] = operand_ok_i;
    if (start_i) begin
      if (start_follows_o) newest_d[older] = 1'b0;
      if (start_follows_o && !start_has_operand_o) has_next_d[older] = 1'b1;
      newest_d[start_index_i]   = 1'b1;
      has_next_d[start_index_i] = 1'b0;
      ok_d[start_index_i]       = !start_has_operand_o || ok_q[older];
      executed_d[start_index_i] = 1'b0;
      writes_d[start_index_i]   = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) newest_q <= '0;
    else         newest_q <= newest_d;
  end

  always_ff @(posedge clk_i) begin
    has_next_q <= has_next_d;
    ok_q       <= ok_d;
    executed_q <= executed_d;
    writes_q   <= writes_d;
    if (finish_i) results_q[finish_index_i] <= finish_result_i;
    if (finish_i && finish_forwards_o) originals_q[finish_next_o] <= finish_result_i;
    if (operand_i) originals_q[operand_index_i] <= operand_original_i;
    if (start_i) begin
      qpns_q[start_index_i]      <= start_request_i.qpn;
      epochs_q[start_index_i]    <= start_epoch_i;
      requests_q[start_index_i]  <= start_request_i.request;
      addresses_q[start_index_i] <= start_address_i;
      if (start_has_operand_o) originals_q[start_index_i] <= finishes_older ? finish_result_i : results_q[older];
      if (start_follows_o) nexts_q[older] <= start_index_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneNewestAtAnAddress_A : assert (!start_i || $onehot0(at_address));
      OperandOnce_A          : assert (!operand_i || !finish_i || !finish_forwards_o || operand_index_i != finish_next_o);
      FinishedOnce_A         : assert (!finish_i || !executed_q[finish_index_i]);
    end
  end
endmodule
