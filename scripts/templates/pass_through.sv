// Hands on each beat as it came: the twin of model/rnic/rx/pass_through. See pass_through.md there for the timing.
module pass_through #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t in_i,
  input  logic [8*BeatBytes-1:0]      in_data_i,
  input  logic                        out_ready_i,   // credit: the output link has room for one more beat
  output logic                        out_launch_o,  // a beat enters the pipeline and uses that credit
  output logic                        out_valid_o,   // registered: the beat launched PipelineCycles ago
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  assign in_ready_o   = out_ready_i;
  assign out_launch_o = in_valid_i && out_ready_i;

  stream_pipe #(
    .Width ($bits(in_i) + 8 * BeatBytes),
    .Cycles(PipelineCycles)
  ) u_beat (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .data_i  ({in_i, in_data_i}),
    .valid_o (out_valid_o),
    .data_o  ({out_o, out_data_o})
  );
endmodule
