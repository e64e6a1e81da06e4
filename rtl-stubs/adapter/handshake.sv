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

  logic waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= 1'b1;
    else         waited_q <= waits_i;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && TheyGive && !waits_i) begin
      NothingInReset_A : assert (!(waited_q && giver_valid_i)) else $error("valid is 1 at the end of reset");
    end
  end
endmodule
