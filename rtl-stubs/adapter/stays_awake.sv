// Keeps the clock running after something has moved: a block that has no busy pin may be at work on it.
module stays_awake #(
  parameter int unsigned Cycles = 64
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic moved_i,
  output logic awake_o
);
  localparam int unsigned Bits = $clog2(Cycles + 1);

  logic [Bits-1:0] left_q;
  assign awake_o = left_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      left_q <= '0;
    else if (moved_i) left_q <= Bits'(Cycles);
    else if (awake_o) left_q <= left_q - 1'b1;
  end
endmodule
