// The reset of somebody's block: ours, and as many clock edges more as the block wants in all.
module reset_hold #(
  parameter int unsigned Cycles = 1  // edges in reset
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic in_reset_o
);
  localparam int unsigned Bits = $clog2(Cycles + 1);

  // The last edge of ours is their first one.
  logic [Bits-1:0] left_q;
  assign in_reset_o = !rst_ni || left_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)           left_q <= Bits'(Cycles - 1);
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end

  if (Cycles < 1) begin : gen_check
    $error("reset_hold: Cycles must be at least 1");
  end
endmodule
