// The output of a block, whose link gives credit for its far end.
module credit_checker #(
  parameter int unsigned Cycles  = 0,    // from the launch to the cycle in which the message is valid; 0: both are one
  parameter bit          Elastic = 1'b0  // a message is valid any number of cycles after its launch, in order
) (
  input logic clk_i,
  input logic rst_ni,
  input logic quiet_i,   // nothing is offered to the block
  input logic ready_i,   // credit
  input logic launch_i,  // takes it
  input logic valid_i
);
  logic        due;       // the oldest one, if Cycles say when
  logic [15:0] flight_q;  // how many are under way
  if (Cycles == 0) begin : gen_at_once
    assign due = launch_i;
  end else begin : gen_later
    logic [Cycles-1:0] launched_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) launched_q <= '0;
      else         launched_q <= Cycles'({launched_q, launch_i});
    end
    assign due = launched_q[Cycles-1];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flight_q <= '0;
    else         flight_q <= flight_q + 16'(launch_i) - 16'(valid_i);
  end

  LaunchHasCredit_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) launch_i |-> ready_i);
  CreditStays_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && ready_i && !launch_i |=> ready_i);
  NoLaunchInReset_A  : assert property (@(posedge clk_i) !rst_ni && quiet_i |-> !launch_i);
  if (Elastic) begin : gen_elastic
    LeavesAfterItsLaunch_A : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> flight_q != '0);
  end else begin : gen_exact
    LeavesWhenDue_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) due |-> valid_i);
    LeavesOnlyWhenDue_A : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> due);
  end
  if (Cycles > 0) begin : gen_registered
    NotValidInReset_A : assert property (@(posedge clk_i) !rst_ni |-> !valid_i);
  end
`ifdef RNIC_SVA_FULL
  if (!Elastic) begin : gen_sequence
    LeavesInItsCycle_A : assert property (@(posedge clk_i) disable iff (!rst_ni) launch_i |-> ##Cycles valid_i);
  end
  LeavesAtLast_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) launch_i |-> s_eventually valid_i);
  CreditComesBack_A : assume property (@(posedge clk_i) disable iff (!rst_ni) !ready_i |-> s_eventually ready_i);
  FullRate_C        : cover property (@(posedge clk_i) disable iff (!rst_ni) launch_i [*4]);
  WaitsForCredit_C  : cover property (@(posedge clk_i) disable iff (!rst_ni) launch_i ##1 !ready_i [*2:$] ##1 launch_i);
`endif
endmodule
