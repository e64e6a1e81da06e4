// A block with the pins of crc_check that passes beats on unchecked, a cycle later, and rests for RestCycles after the
// last beat of each FPDU. Its own clock counts these, so it reports itself busy.
module resting_block #(
  parameter int unsigned BeatBytes  = 64,
  parameter int unsigned RestCycles = 40
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t in_i,
  input  logic [8*BeatBytes-1:0]      in_data_i,
  input  logic                        out_ready_i,
  output logic                        out_launch_o,
  output logic                        out_valid_o,
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o,
  output logic                        busy_o
);
  logic [31:0] rest_q;
  assign in_ready_o   = out_ready_i && rest_q == 0;
  assign out_launch_o = in_valid_i && in_ready_o;
  assign busy_o       = rest_q != 0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                          rest_q <= 0;
    else if (out_launch_o && in_i.last)   rest_q <= RestCycles;
    else if (busy_o)                      rest_q <= rest_q - 1;
  end

  stream_pipe #(
    .Width ($bits(in_i) + 8 * BeatBytes),
    .Cycles(1)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .data_i  ({in_i, in_data_i}),
    .valid_o (out_valid_o),
    .data_o  ({out_o, out_data_o})
  );
endmodule
