// An example of a user's block with its own timing: a crc_check that refuses a beat in one of four cycles, and whose beats
// wait a while before they leave. It gives the same beats in the same order, later.
module crc_check #(
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
  localparam int unsigned Places    = 2 * PipelineCycles;  // at least the depth of the output link

  // State that steps in each cycle, whatever the links do.
  logic [15:0] lfsr_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lfsr_q <= 16'hace1;
    else         lfsr_q <= {lfsr_q[14:0], lfsr_q[15] ^ lfsr_q[13] ^ lfsr_q[12] ^ lfsr_q[10]};
  end

  assign in_ready_o   = out_ready_i && lfsr_q[1:0] != 2'd0;
  assign out_launch_o = in_valid_i && in_ready_o;

  // The CRC covers a marker where it stood, before the word of its lane. It does not cover its own field, the last word.
  logic [31:0]                 crc_d, crc_q;
  rnic_stream_pkg::fpdu_beat_t checked;
  always_comb begin
    crc_d = in_i.first ? rnic_crc32c_pkg::Init : crc_q;
    for (int unsigned lane = 0; lane < BeatWords; lane++) begin
      if (in_i.marker_valid && lane == 32'(in_i.marker_lane)) crc_d = rnic_crc32c_pkg::step(crc_d, in_i.marker);
      if (lane < 32'(in_i.words) - 32'(in_i.last)) crc_d = rnic_crc32c_pkg::step(crc_d, in_data_i[32*lane+:32]);
    end
    checked = in_i;
    if (in_i.last) begin
      checked.crc_ok = !in_i.crc_on || in_i.placed || in_i.ends || ~crc_d == in_data_i[32*(32'(in_i.words)-1)+:32];
    end
  end
  always_ff @(posedge clk_i) if (out_launch_o) crc_q <= crc_d;

  // The launched beats inside. Each has had its slot in the link since its launch.
  localparam int unsigned Width = $bits(in_i) + 8 * BeatBytes;
  localparam int unsigned Bits  = $clog2(Places);
  logic [Width-1:0] beats_q [Places];
  logic [Bits:0]    oldest_q, next_q;
  logic             leaves;
  assign leaves = oldest_q != next_q && lfsr_q[2];

  always_ff @(posedge clk_i) begin
    if (out_launch_o) beats_q[next_q[Bits-1:0]] <= {checked, in_data_i};
    {out_o, out_data_o} <= beats_q[oldest_q[Bits-1:0]];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      oldest_q    <= '0;
      next_q      <= '0;
      out_valid_o <= 1'b0;
    end else begin
      oldest_q    <= oldest_q + (Bits + 1)'(leaves);
      next_q      <= next_q + (Bits + 1)'(out_launch_o);
      out_valid_o <= leaves;
    end
  end

  always_ff @(posedge clk_i) if (rst_ni) Fits_A : assert (next_q - oldest_q <= (Bits + 1)'(Places));

  if (Places != 2 ** Bits) begin : gen_check
    $error("crc_check: PipelineCycles must be a power of two");
  end
endmodule
