// The arithmetic of RFC 7306 section 5.1: the result of a masked FetchAdd or CmpSwap on a word of memory. No registers; the
// twin of model/rnic/responder/atomic_operation.h.
module atomic_operation (
  input  logic        cmp_swap_i,      // 0: FetchAdd
  input  logic [63:0] original_i,
  input  logic [63:0] data_i,          // to add, or to swap in
  input  logic [63:0] data_mask_i,     // most significant bits of the fields to add, or bits to swap
  input  logic [63:0] compare_i,
  input  logic [63:0] compare_mask_i,
  output logic [63:0] value_o,         // the new value
  output logic        writes_o         // 0: memory stays as it is
);
  // No carry leaves a field: the fields' top bits are left out of the sum, and then added without a carry out.
  logic [63:0] below, sum, swapped;
  logic        hit;
  assign below   = (original_i & ~data_mask_i) + (data_i & ~data_mask_i);
  assign sum     = below ^ ((original_i ^ data_i) & data_mask_i);
  assign swapped = (original_i & ~data_mask_i) | (data_i & data_mask_i);
  assign hit = ((original_i ^ compare_i) & compare_mask_i) == '0;

  assign value_o  = !cmp_swap_i ? sum : hit ? swapped : original_i;
  assign writes_o = !cmp_swap_i || hit;
endmodule
