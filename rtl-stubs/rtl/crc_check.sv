// CRC32c check of received FPDUs: the twin of model/rnic/rx/crc_check. See crc_check.md there for the timing.
module crc_check
  import rnic_stream_pkg::*;
#(
  parameter int unsigned PipelineCycles = 4
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       fpdu_valid_i,
  output logic       fpdu_ready_o,
  input  fpdu_beat_t fpdu_i,
  input  logic       fpdu_ready_i,   // credit: the output link has room for one more beat
  output logic       fpdu_launch_o,  // a beat enters the pipeline and uses that credit
  output logic       fpdu_valid_o,   // registered: the beat launched PipelineCycles ago
  output fpdu_beat_t fpdu_o
);
  logic [31:0] crc_d, crc_q;
  fpdu_beat_t  beat;

  assign fpdu_ready_o  = fpdu_ready_i;
  assign fpdu_launch_o = fpdu_valid_i && fpdu_ready_i;

  // A marker is covered where it stood, the CRC field is not covered.
  always_comb begin
    crc_d = fpdu_i.first ? Crc32cInit : crc_q;
    for (int unsigned lane = 0; lane < BeatWords; lane++) begin
      if (fpdu_i.marker_valid && fpdu_i.marker_lane == 5'(lane)) crc_d = crc32c_word(crc_d, fpdu_i.marker);
      if (6'(lane) < fpdu_i.words - 6'(fpdu_i.last)) crc_d = crc32c_word(crc_d, fpdu_i.data[32*lane+:32]);
    end
  end

  always_comb begin
    beat = fpdu_i;
    if (fpdu_i.last) begin
      beat.crc_ok = !fpdu_i.crc_on || ~crc_d == fpdu_i.data[32*(32'(fpdu_i.words)-1)+:32];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)            crc_q <= Crc32cInit;
    else if (fpdu_launch_o) crc_q <= crc_d;
  end

  stream_pipe #(
    .Width ($bits(fpdu_beat_t)),
    .Cycles(PipelineCycles)
  ) u_pipe (
    .clk_i,
    .rst_ni,
    .launch_i(fpdu_launch_o),
    .data_i  (beat),
    .valid_o (fpdu_valid_o),
    .data_o  (fpdu_o)
  );

  // A beat has at least its CRC word, and at most the datapath's width.
  always_ff @(posedge clk_i) begin
    if (rst_ni && fpdu_valid_i) begin
      WordsInRange_A : assert (fpdu_i.words >= 1 && fpdu_i.words <= 6'(BeatWords));
      MarkerInBeat_A : assert (!fpdu_i.marker_valid || 6'(fpdu_i.marker_lane) < fpdu_i.words);
    end
  end
endmodule
