// A link between two blocks (link.sv): its credits are the free places, and a beat is shown in its cycle and until it is taken.
module link_checker #(
  parameter int unsigned Width         = 32,
  parameter int unsigned Depth         = 2,
  parameter int unsigned Latency       = 1,
  parameter int unsigned CreditLatency = 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             in_ready_o,
  input logic             in_launch_i,
  input logic             in_valid_i,
  input logic             out_valid_o,
  input logic [Width-1:0] out_o,
  input logic             out_ready_i
);
  // Launches that have no beat yet, beats that are due to be shown, credits that came back.
  logic        take, comes, back;
  logic [15:0] credits_q, launched_q, shown_q, shown;
  assign take  = out_valid_o && out_ready_i;
  assign shown = shown_q + 16'(comes);
  if (Latency == 0) begin : gen_at_once
    assign comes = in_valid_i;
  end else begin : gen_later
    logic [Latency-1:0] came_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) came_q <= '0;
      else         came_q <= Latency'({came_q, in_valid_i});
    end
    assign comes = came_q[Latency-1];
  end
  logic [CreditLatency-1:0] back_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) back_q <= '0;
    else         back_q <= CreditLatency'({back_q, take});
  end
  assign back = back_q[CreditLatency-1];
  logic [15:0] credits;
  assign credits = credits_q + 16'(back);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      credits_q  <= 16'(Depth);
      launched_q <= '0;
      shown_q    <= '0;
    end else begin
      credits_q  <= credits - 16'(in_launch_i);
      launched_q <= launched_q + 16'(in_launch_i) - 16'(in_valid_i);
      shown_q    <= shown - 16'(take);
    end
  end

  LaunchHasCredit_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) in_launch_i |-> in_ready_o);
  CreditsWithinDepth_A : assert property (@(posedge clk_i) disable iff (!rst_ni) in_ready_o |-> credits != '0);
  CreditComesInTime_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) credits != '0 |-> in_ready_o);
  BeatWasLaunched_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) in_valid_i |-> in_launch_i || launched_q != '0);
  ShownInItsCycle_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) shown != '0 |-> out_valid_o);
  NothingFromNothing_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> shown != '0);
  StableUntilTaken_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && out_valid_o && !out_ready_i |=> !out_valid_o || $stable(out_o));
  NotValidInReset_A    : assert property (@(posedge clk_i) !rst_ni && !in_valid_i |-> !out_valid_o);
`ifdef RNIC_SVA_FULL
  TakenAtLast_A     : assume property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> s_eventually out_ready_i);
  CreditComesBack_A : assert property (@(posedge clk_i) disable iff (!rst_ni) !in_ready_o |-> s_eventually in_ready_o);
  BeatIsShown_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) in_valid_i |-> ##Latency out_valid_o);
  Full_C            : cover property (@(posedge clk_i) disable iff (!rst_ni) !in_ready_o [*3] ##1 in_ready_o);
`endif
endmodule
