// CRC32c of FPDUs to be sent: the twin of model/rnic/tx/crc_insert. See crc_insert.md there for the timing.
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
  input  logic                        out_ready_i,   // credit: the output link has room for one more beat
  output logic                        out_launch_o,  // a beat enters the pipeline and uses that credit
  output logic                        out_valid_o,   // registered: the beat launched PipelineCycles ago
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  localparam int unsigned BeatWords = BeatBytes / 4;
  localparam int unsigned BeatBits  = $bits(in_i);

  assign in_ready_o   = out_ready_i;
  assign out_launch_o = in_valid_i && out_ready_i;

  // The CRC field, which is the last word, is shifted out.
  logic [5:0]  count;
  logic [31:0] crc;
  assign count = in_i.words - 6'(in_i.last);
  crc32c_tree #(
    .Lanes (BeatWords),
    .Cycles(PipelineCycles)
  ) u_tree (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .first_i (in_i.first),
    .count_i (count),
    .lanes_i (in_data_i << (32 * (BeatWords - 32'(count)))),
    .crc_o   (crc)
  );

  logic                        valid;
  rnic_stream_pkg::fpdu_beat_t beat;
  logic [8*BeatBytes-1:0]      data, sealed;
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
    sealed = data;
    if (beat.last && beat.crc_on) sealed[32*(32'(beat.words)-1)+:32] = ~crc;
  end

  beat_out #(
    .BeatBytes(BeatBytes),
    .Cycles   (1)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(valid),
    .beat_i  (beat),
    .data_i  (sealed),
    .valid_o (out_valid_o),
    .beat_o  (out_o),
    .data_o  (out_data_o)
  );

  // A beat has at least its CRC word, and at most the datapath's width; markers are among the words.
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) begin
      WordsInRange_A : assert (in_i.words >= 1 && in_i.words <= 6'(BeatWords));
      NoMarkerBeside_A : assert (!in_i.marker_valid);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OneBeat_C   : cover (in_valid_i && in_ready_o && in_i.first && in_i.last);
      ManyBeats_C : cover (in_valid_i && in_ready_o && !in_i.first && in_i.last);
      CrcAlone_C  : cover (in_valid_i && in_ready_o && in_i.last && in_i.words == 6'd1);
      CrcOff_C    : cover (in_valid_i && in_ready_o && in_i.last && !in_i.crc_on);
      Stalled_C   : cover (in_valid_i && !out_ready_i);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("crc_insert: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
