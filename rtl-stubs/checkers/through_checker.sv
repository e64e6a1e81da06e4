// What passes through a block: nothing leaves that did not come, and no more is inside than it has places for.
module through_checker #(
  parameter int unsigned Most = 65535
) (
  input logic clk_i,
  input logic rst_ni,
  input logic in_i,   // one more comes
  input logic out_i   // one leaves, which came before or comes now
);
  logic [16:0] inside_d, inside_q;
  assign inside_d = inside_q + 17'(in_i) - 17'(out_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) inside_q <= '0;
    else         inside_q <= inside_d;
  end

  NothingFromNothing_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_i |-> in_i || inside_q != '0);
  WithinItsPlaces_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) in_i |-> inside_d <= 17'(Most));
`ifdef RNIC_SVA_FULL
  PassesAtLast_A : assert property (@(posedge clk_i) disable iff (!rst_ni) in_i |-> s_eventually out_i);
`endif
endmodule
