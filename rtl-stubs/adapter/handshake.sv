// A message from its giver to its taker, one of which is somebody's block: nothing passes while that is in reset. Our credit is
// their ready, and as our side takes a message in the cycle in which it is offered, their valid is ours together with the credit.
module handshake #(
  parameter bit TheyGive = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic waits_i,  // they are in reset
  input  logic giver_valid_i,
  output logic giver_ready_o,
  output logic taker_valid_o,
  input  logic taker_ready_i
);
  assign giver_ready_o = taker_ready_i && !waits_i;
  assign taker_valid_o = giver_valid_i && !waits_i && (taker_ready_i || !TheyGive);

  always_ff @(posedge clk_i) begin
    if (rst_ni) NothingInReset_A : assert (!(TheyGive && waits_i && giver_valid_i)) else $error("valid is 1 in reset");
  end
endmodule
