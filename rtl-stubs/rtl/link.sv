// A registered link between two blocks: the twin of model/common/link.h, with valid and ready in place of calls, and
// latency in both directions.
//   in:  in_ready_o is the credit, in_launch_i takes it, and in_valid_i brings the beat for the oldest credit taken, now or
//        later. A control link brings it at once: launch and valid are then one pin.
//   out: a beat is offered until it is taken with out_ready_i.
// Latency counts from in_valid_i to the first cycle in which out_valid_o shows the beat. After a block that is a pipeline
// of N registers it is N less than Link's own, usually 0: the beat is seen in the cycle in which it leaves the block.
module link #(
  parameter int unsigned Width         = 32,
  parameter int unsigned Depth         = 2,  // beats in flight and waiting together
  parameter int unsigned Latency       = 1,
  parameter int unsigned CreditLatency = 1   // cycles from out_ready_i to the first cycle with the credit
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             in_ready_o,
  input  logic             in_launch_i,
  input  logic             in_valid_i,
  input  logic [Width-1:0] in_i,
  output logic             out_valid_o,
  output logic [Width-1:0] out_o,
  input  logic             out_ready_i
);
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned IndexBits = Depth > 1 ? $clog2(Depth) : 1;

  // The path to the slots. Writing the slot is the last cycle of the latency.
  logic             arrives;
  logic [Width-1:0] arrival;
  stream_pipe #(
    .Width (Width),
    .Cycles(Latency > 1 ? Latency - 1 : 0)
  ) u_way (
    .clk_i,
    .rst_ni,
    .launch_i(in_valid_i),
    .data_i  (in_i),
    .valid_o (arrives),
    .data_o  (arrival)
  );

  logic [Depth*Width-1:0] slots_q;
  logic [IndexBits-1:0]   head_d, head_q, tail_d, tail_q;
  logic [CountBits-1:0]   waiting_d, waiting_q;
  logic                   empty, store, take;
  assign empty       = waiting_q == '0;
  assign out_valid_o = !empty || (Latency == 0 && arrives);
  assign out_o       = empty ? arrival : slots_q[32'(head_q)*Width+:Width];
  assign take        = out_valid_o && out_ready_i;
  assign store       = arrives && !(empty && take);

  function automatic logic [IndexBits-1:0] behind(input logic [IndexBits-1:0] slot);
    behind = slot == IndexBits'(Depth - 1) ? '0 : slot + 1'b1;
  endfunction
  always_comb begin
    head_d    = take && !empty ? behind(head_q) : head_q;
    tail_d    = store ? behind(tail_q) : tail_q;
    waiting_d = waiting_q + CountBits'(store) - CountBits'(take && !empty);
  end

  // The credit's path back.
  logic                 back, unused;
  logic [CountBits-1:0] credits_d, credits_q;
  stream_pipe #(
    .Width (1),
    .Cycles(CreditLatency - 1)
  ) u_back (
    .clk_i,
    .rst_ni,
    .launch_i(take),
    .data_i  (1'b0),
    .valid_o (back),
    .data_o  (unused)
  );
  assign in_ready_o = credits_q != '0;
  assign credits_d  = credits_q - CountBits'(in_launch_i) + CountBits'(back);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q    <= '0;
      tail_q    <= '0;
      waiting_q <= '0;
      credits_q <= CountBits'(Depth);
    end else begin
      head_q    <= head_d;
      tail_q    <= tail_d;
      waiting_q <= waiting_d;
      credits_q <= credits_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (store) slots_q[32'(tail_q)*Width+:Width] <= arrival;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      LaunchedWithCredit_A : assert (!in_launch_i || in_ready_o);
      RoomForTheBeat_A     : assert (!store || waiting_q != CountBits'(Depth));
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Full_C          : cover (waiting_q == CountBits'(Depth));
      NoCredit_C      : cover (!in_ready_o && !back);
      LaunchAndBack_C : cover (in_launch_i && back);
      StoreAndTake_C  : cover (store && take);
      FallsThrough_C  : cover (Latency == 0 && arrives && empty && take);
    end
  end

  if (Depth < 1 || CreditLatency < 1) begin : gen_check
    $error("link: Depth and CreditLatency must be at least 1");
  end
endmodule
