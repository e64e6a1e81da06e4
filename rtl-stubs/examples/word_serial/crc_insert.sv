// An example of a user's block: crc_insert with the pins and cycles of rtl/crc_insert.sv. It computes the CRC word by word
// from the definition, in one cycle, instead of with a pipelined tree. Slow in silicon, easy to read.
module crc_insert #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 4
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
  output logic [8*BeatBytes-1:0]      out_data_o
);
  localparam int unsigned BeatWords = BeatBytes / 4;

  assign in_ready_o   = out_ready_i;
  assign out_launch_o = in_valid_i && out_ready_i;

  logic [31:0]            crc_d, crc_q;
  logic [8*BeatBytes-1:0] sealed;
  always_comb begin
    crc_d  = in_i.first ? rnic_crc32c_pkg::Init : crc_q;
    sealed = in_data_i;
    for (int unsigned lane = 0; lane < BeatWords; lane++) begin
      if (lane < 32'(in_i.words) - 32'(in_i.last)) crc_d = rnic_crc32c_pkg::step(crc_d, in_data_i[32*lane+:32]);
    end
    if (in_i.last && in_i.crc_on) sealed[32*(32'(in_i.words)-1)+:32] = ~crc_d;
  end

  always_ff @(posedge clk_i) if (out_launch_o) crc_q <= crc_d;

  stream_pipe #(
    .Width ($bits(in_i) + 8 * BeatBytes),
    .Cycles(PipelineCycles)
  ) u_pipe (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .data_i  ({in_i, sealed}),
    .valid_o (out_valid_o),
    .data_o  ({out_o, out_data_o})
  );
endmodule
