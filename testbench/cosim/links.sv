// Links of many depths and latencies side by side: link i has depth 1 + i % 4, latency i / 4 % 4, credit latency 1 + i / 16.
module links #(
  parameter int unsigned Count = 48
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic [Count-1:0]   in_ready_o,
  input  logic [Count-1:0]   in_launch_i,
  input  logic [Count-1:0]   in_valid_i,
  input  logic [8*Count-1:0] in_i,
  output logic [Count-1:0]   out_valid_o,
  output logic [8*Count-1:0] out_o,
  input  logic [Count-1:0]   out_ready_i
);
  for (genvar i = 0; i < Count; i++) begin : gen_link
    link #(
      .Width        (8),
      .Depth        (1 + i % 4),
      .Latency      (i / 4 % 4),
      .CreditLatency(1 + i / 16)
    ) u_link (
      .clk_i,
      .rst_ni,
      .in_ready_o (in_ready_o[i]),
      .in_launch_i(in_launch_i[i]),
      .in_valid_i (in_valid_i[i]),
      .in_i       (in_i[8*i+:8]),
      .out_valid_o(out_valid_o[i]),
      .out_o      (out_o[8*i+:8]),
      .out_ready_i(out_ready_i[i])
    );
  end
endmodule
