// The input of a block: a message is offered until it is taken.
module offer_checker #(
  parameter int unsigned Width = 32
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_i,   // it is taken at this edge
  input logic [Width-1:0] message_i
);
  OfferStays_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && valid_i && !ready_i |=> valid_i);
  OfferUnchanged_A : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && valid_i && !ready_i |=> !valid_i || $stable(message_i));
`ifdef RNIC_SVA_FULL
  TakenAtLast_A : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> s_eventually ready_i);
  MessageIsKnown_A : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> !$isunknown(message_i));
  TakenAtOnce_C : cover property (@(posedge clk_i) disable iff (!rst_ni) $rose(valid_i) && ready_i);
  Waits_C       : cover property (@(posedge clk_i) disable iff (!rst_ni) valid_i && !ready_i ##1 (valid_i throughout ready_i [->1]));
`endif
endmodule
