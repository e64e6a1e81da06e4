// CRC32c check of received FPDUs: the twin of model/rnic/rx/crc_check. See crc_check.md there for the timing.
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
  input  logic                        out_ready_i,   // credit: the output link has room for one more beat
  output logic                        out_launch_o,  // a beat enters the pipeline and uses that credit
  output logic                        out_valid_o,   // registered: the beat launched PipelineCycles ago
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  localparam int unsigned BeatWords = BeatBytes / 4;
  localparam int unsigned Lanes     = BeatWords + 1;  // with a marker
  localparam int unsigned BeatBits  = $bits(in_i);

  assign in_ready_o   = out_ready_i;
  assign out_launch_o = in_valid_i && out_ready_i;

  // A marker is covered where it stood; the CRC field, which is the last word, is not: it is shifted out.
  logic [32*Lanes-1:0] words;
  logic [5:0]          count;
  always_comb begin
    words = {32'd0, in_data_i};
    if (in_i.marker_valid) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        if (lane == 32'(in_i.marker_lane))     words[32*lane+:32] = in_i.marker;
        else if (lane > 32'(in_i.marker_lane)) words[32*lane+:32] = in_data_i[32*(lane-1)+:32];
      end
    end
    count = in_i.words - 6'(in_i.last) + 6'(in_i.marker_valid);
  end

  logic [31:0] crc;
  crc32c_tree #(
    .Lanes (Lanes),
    .Cycles(PipelineCycles)
  ) u_tree (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .first_i (in_i.first),
    .count_i (count),
    .lanes_i (words << (32 * (Lanes - 32'(count)))),
    .crc_o   (crc)
  );

  logic                        valid;
  rnic_stream_pkg::fpdu_beat_t beat, checked;
  logic [8*BeatBytes-1:0]      data;
  stream_pipe #(
    .Width (BeatBits + 8 * BeatBytes),
    .Cycles(PipelineCycles - 1)
  ) u_beat (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .data_i  ({in_i, in_data_i}),
    .valid_o (valid),
    .data_o  ({beat, data})
  );

  always_comb begin
    checked = beat;
    if (beat.last) checked.crc_ok = !beat.crc_on || beat.placed || beat.ends || ~crc == data[32*(32'(beat.words)-1)+:32];
  end

  beat_out #(
    .BeatBytes(BeatBytes),
    .Cycles   (1)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(valid),
    .beat_i  (checked),
    .data_i  (data),
    .valid_o (out_valid_o),
    .beat_o  (out_o),
    .data_o  (out_data_o)
  );

  // A beat has at least its CRC word, and at most the datapath's width.
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) begin
      WordsInRange_A : assert (in_i.words >= 1 && in_i.words <= 6'(BeatWords));
      MarkerInBeat_A : assert (!in_i.marker_valid || 6'(in_i.marker_lane) < in_i.words);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneBeat_C     : cover (in_valid_i && in_ready_o && in_i.first && in_i.last);
      ManyBeats_C   : cover (in_valid_i && in_ready_o && !in_i.first && in_i.last);
      CrcAlone_C    : cover (in_valid_i && in_ready_o && in_i.last && in_i.words == 6'd1);
      MarkerFirst_C : cover (in_valid_i && in_ready_o && in_i.marker_valid && in_i.marker_lane == '0);
      MarkerLast_C  : cover (in_valid_i && in_ready_o && in_i.marker_valid && in_i.marker_lane == 5'(BeatWords - 1));
      CrcWrong_C    : cover (valid && beat.last && beat.crc_on && !checked.crc_ok);
      Placed_C      : cover (valid && beat.placed && beat.crc_on && ~crc != data[32*(32'(beat.words)-1)+:32]);
      Ends_C        : cover (valid && beat.ends && beat.crc_on && ~crc != data[32*(32'(beat.words)-1)+:32]);
      CrcOff_C      : cover (valid && beat.last && !beat.crc_on && ~crc != data[32*(32'(beat.words)-1)+:32]);
      Stalled_C     : cover (in_valid_i && !out_ready_i);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("crc_check: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
