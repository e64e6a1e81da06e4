// A link gives exactly Depth credits, and shows every beat, unchanged, in order, and in its cycle: none is lost, none is
// made up. The producer takes only credits that exist, and brings the beats any time later; the consumer takes beats at any
// time. Any beat may be the watched one.
module link_proof #(
  parameter int unsigned Depth         = 2,
  parameter int unsigned Latency       = 1,
  parameter int unsigned CreditLatency = 1
) (
  input logic clk_i,
  input logic launch,
  input logic valid,
  input logic beat,
  input logic take,
  input logic watch
);
  logic in_reset = 1'b1;
  always_ff @(posedge clk_i) in_reset <= 1'b0;

  logic ready, out_valid, out, pop;
  link #(
    .Width        (1),
    .Depth        (Depth),
    .Latency      (Latency),
    .CreditLatency(CreditLatency)
  ) u_link (
    .clk_i,
    .rst_ni     (!in_reset),
    .in_ready_o (ready),
    .in_launch_i(launch),
    .in_valid_i (valid),
    .in_i       (beat),
    .out_valid_o(out_valid),
    .out_o      (out),
    .out_ready_i(take)
  );
  assign pop = out_valid && take;

  // A model of the link: two counts and two delays.
  localparam int unsigned Bits = $clog2(Depth + 1) + 1;
  logic [Bits-1:0] reserved = '0;        // credits taken for beats that are still to come
  logic [Bits-1:0] flying   = '0;        // beats on their way, or waiting
  logic [7:0] arrived = '0, back = '0;   // [n]: n + 1 cycles ago a beat came, or was taken
  logic [Bits-1:0] visible, returning;
  always_comb begin
    visible   = flying + Bits'(Latency == 0 && valid);
    returning = '0;
    for (int unsigned n = 0; n + 1 < Latency; n++)       visible   = visible - Bits'(arrived[n]);
    for (int unsigned n = 0; n + 1 < CreditLatency; n++) returning = returning + Bits'(back[n]);
  end
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      reserved <= reserved + Bits'(launch) - Bits'(valid);
      flying   <= flying + Bits'(valid) - Bits'(pop);
      arrived  <= {arrived[6:0], valid};
      back     <= {back[6:0], pop};
    end
  end

  // The watched beat, and how many are ahead of it.
  logic            watching = 1'b0, value = 1'b0;
  logic [Bits-1:0] ahead = '0;
  always_ff @(posedge clk_i) begin
    if (!in_reset) begin
      if (valid && watch && !watching) begin
        watching <= !(pop && flying == 0);
        ahead    <= flying - Bits'(pop);
        value    <= beat;
      end else if (watching && pop) begin
        watching <= ahead != 0;
        ahead    <= ahead - 1'b1;
      end
    end
  end

  always_comb begin
    if (in_reset) begin
      assume (!launch && !valid);
    end else begin
      assume (!launch || ready);
      assume (!valid || launch || reserved != 0);
      Credit_A       : assert (ready == (reserved + flying + returning < Bits'(Depth)));
      NeverTooMany_A : assert (reserved + flying <= Bits'(Depth));
      InItsCycle_A   : assert (out_valid == (visible != 0));
      Unchanged_A    : assert (!pop || !watching || ahead != 0 || out == value);
      FallsThrough_A : assert (!pop || flying != 0 || out == beat);
    end
  end
endmodule
