// A port of a table (model/common/table.md): a row is asked for and comes later, in front until it is dropped.
module row_checker (
  input logic clk_i,
  input logic rst_ni,
  input logic ready_i,  // a row can be asked for
  input logic ask_i,
  input logic valid_i,  // a row is there
  input logic drop_i
);
  logic [15:0] asked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_q <= '0;
    else         asked_q <= asked_q + 16'(ask_i) - 16'(drop_i);
  end

  AsksWhenItMay_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) ask_i |-> ready_i);
  DropsWhatIsThere_A : assert property (@(posedge clk_i) disable iff (!rst_ni) drop_i |-> valid_i);
  RowWasAskedFor_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> asked_q != '0);
  RowStays_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && valid_i && !drop_i |=> valid_i);
`ifdef RNIC_SVA_FULL
  RowComes_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) ask_i |-> s_eventually valid_i);
  RowIsUsed_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> s_eventually drop_i);
  TwoAreAsked_C : cover property (@(posedge clk_i) disable iff (!rst_ni) ask_i ##1 (!drop_i throughout ask_i [->1]));
`endif
endmodule
