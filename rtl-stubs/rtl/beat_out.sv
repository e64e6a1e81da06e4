// The output of a block that sends FPDU beats: a launched beat and its octets leave Cycles later.
module beat_out #(
  parameter int unsigned BeatBytes = 64,
  parameter int unsigned Cycles    = 1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        launch_i,
  input  rnic_stream_pkg::fpdu_beat_t beat_i,
  input  logic [8*BeatBytes-1:0]      data_i,
  output logic                        valid_o,
  output rnic_stream_pkg::fpdu_beat_t beat_o,
  output logic [8*BeatBytes-1:0]      data_o
);
  stream_pipe #(
    .Width ($bits(beat_i) + 8 * BeatBytes),
    .Cycles(Cycles)
  ) u_pipe (
    .clk_i,
    .rst_ni,
    .launch_i,
    .data_i({beat_i, data_i}),
    .valid_o,
    .data_o({beat_o, data_o})
  );
endmodule
