// A masked FetchAdd is the addition of independent fields, for every mask and every operand; a masked CmpSwap compares and
// exchanges bit by bit (RFC 7306 section 5.1).
module atomic_operation_proof (
  input logic        cmp_swap,
  input logic [63:0] original, data, data_mask, compare, compare_mask
);
  logic [63:0] value;
  logic        writes;
  atomic_operation u_dut (
    .cmp_swap_i    (cmp_swap),
    .original_i    (original),
    .data_i        (data),
    .data_mask_i   (data_mask),
    .compare_i     (compare),
    .compare_mask_i(compare_mask),
    .value_o       (value),
    .writes_o      (writes)
  );

  logic        carry, differs;
  logic [63:0] expected;
  always_comb begin
    carry   = 1'b0;
    differs = 1'b0;
    for (int i = 0; i < 64; i++) differs = differs | (compare_mask[i] & (original[i] ^ compare[i]));
    for (int i = 0; i < 64; i++) begin
      if (cmp_swap) begin
        expected[i] = !differs && data_mask[i] ? data[i] : original[i];
      end else begin
        expected[i] = original[i] ^ data[i] ^ carry;
        carry = data_mask[i] ? 1'b0 : (original[i] & data[i]) | (carry & (original[i] ^ data[i]));
      end
    end
    Value_A  : assert (value == expected);
    Writes_A : assert (writes == (!cmp_swap || !differs));
  end
endmodule
