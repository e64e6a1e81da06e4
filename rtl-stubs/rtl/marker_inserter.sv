// Puts MPA markers into FPDUs: the twin of model/rnic/tx/marker_inserter. See marker_inserter.md there for the timing.
// In an FPDU's first beat the marker's place holds whether it gets markers (bit 31) and where it starts in the stream,
// modulo the marker interval (bits 8 to 0); it leaves as 0.
module marker_inserter #(
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
  localparam int unsigned BeatWords  = BeatBytes / 4;
  localparam int unsigned Room       = 2 * BeatWords;  // of the accumulator: what is left, a beat and its marker
  localparam int unsigned MarkerWord = rnic_stream_pkg::MarkerInterval / 4;  // words of the stream from one marker to the next

  // The FPDU in the accumulator: its next word is words_q[0].
  logic [32*Room-1:0]          words_d, words_q;
  logic [6:0]                  pending_d, pending_q;
  logic                        complete_d, complete_q;
  logic                        first_d, first_q;        // the next beat out is its first one
  rnic_stream_pkg::fpdu_beat_t fpdu_d, fpdu_q;          // what all its beats share
  logic [16:0]                 position_d, position_q;  // after its last word
  logic [16:0]                 length_at_d, length_at_q;
  logic                        with_markers, with_markers_q;

  // Out: a full beat, or the rest of a complete FPDU.
  logic                        full;
  rnic_stream_pkg::fpdu_beat_t beat;
  logic [6:0]                  left;
  assign full         = pending_q >= 7'(BeatWords);
  assign out_launch_o = out_ready_i && (full || complete_q);
  always_comb begin
    left               = full ? pending_q - 7'(BeatWords) : '0;
    beat               = fpdu_q;
    beat.words         = full ? 6'(BeatWords) : pending_q[5:0];
    beat.first         = first_q;
    beat.last          = complete_q && left == 0;
    beat.completes_wqe = beat.last && fpdu_q.completes_wqe;
  end

  // In: after what stays, if that is less than a beat and the FPDU needs more.
  logic [6:0]         stays;
  logic               whole;
  logic [32*Room-1:0] kept;
  assign stays      = out_launch_o ? left : pending_q;
  assign whole      = complete_q && !(out_launch_o && beat.last);
  assign kept       = out_launch_o ? words_q >> (32 * BeatWords) : words_q;
  assign in_ready_o = stays < 7'(BeatWords) && !whole;

  // A marker precedes the word at each multiple of MarkerInterval octets (RFC 5044 section 4.3). FPDUPTR counts from the
  // length field, and is 0 right before it. A beat has at most one marker: the datapath is narrower than the interval.
  logic [16:0]              start, length_at, marker_at;
  logic [6:0]               lane;    // of the marker
  logic                     marked;  // the beat has one
  logic [15:0]              pointer;
  logic [8*BeatBytes+31:0]  grown;
  logic [6:0]               count;
  always_comb begin
    with_markers = in_i.first ? in_i.marker[31] : with_markers_q;
    start        = in_i.first ? {8'd0, in_i.marker[8:0]} : position_q;
    length_at    = !in_i.first ? length_at_q : with_markers && start[8:0] == 0 ? start + 17'd4 : start;
    lane         = 7'(7'(MarkerWord) - start[8:2]);
    marked       = with_markers && lane < 7'(in_i.words);
    marker_at    = start + {8'd0, lane, 2'd0};
    pointer      = marker_at + 17'd4 == length_at ? '0 : marker_at[15:0] - length_at[15:0];
    grown        = {32'd0, in_data_i};
    if (marked) begin
      for (int unsigned i = 0; i <= BeatWords; i++) begin
        if (i == 32'(lane))     grown[32*i+:32] = {pointer[7:0], pointer[15:8], 16'd0};
        else if (i > 32'(lane)) grown[32*i+:32] = in_data_i[32*(i-1)+:32];
      end
    end
    count = 7'(in_i.words) + 7'(marked);
  end

  logic take;
  assign take = in_valid_i && in_ready_o;
  always_comb begin
    words_d     = kept;
    pending_d   = stays;
    complete_d  = whole;
    first_d     = out_launch_o ? 1'b0 : first_q;
    fpdu_d      = fpdu_q;
    position_d  = position_q;
    length_at_d = length_at_q;
    if (take) begin
      for (int unsigned i = 0; i < Room; i++) begin
        if (i >= 32'(stays) && i < 32'(stays) + BeatWords + 1) words_d[32*i+:32] = grown[32*(i-32'(stays))+:32];
      end
      pending_d   = stays + count;
      complete_d  = in_i.last;
      position_d  = start + {8'd0, count, 2'd0};
      length_at_d = length_at;
      if (in_i.first) begin
        first_d = 1'b1;
        fpdu_d  = in_i;
        fpdu_d.marker = '0;
      end
      if (in_i.last) fpdu_d.completes_wqe = in_i.completes_wqe;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q  <= '0;
      complete_q <= 1'b0;
    end else begin
      pending_q  <= pending_d;
      complete_q <= complete_d;
    end
  end

  always_ff @(posedge clk_i) begin
    words_q     <= words_d;
    first_q     <= first_d;
    fpdu_q      <= fpdu_d;
    position_q  <= position_d;
    length_at_q <= length_at_d;
    if (take) with_markers_q <= with_markers;
  end

  beat_out #(
    .BeatBytes(BeatBytes),
    .Cycles   (PipelineCycles)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .beat_i  (beat),
    .data_i  (words_q[8*BeatBytes-1:0]),
    .valid_o (out_valid_o),
    .beat_o  (out_o),
    .data_o  (out_data_o)
  );

  // FPDUs are not interleaved, and lie on words.
  logic open_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
    end else if (take) begin
      open_q <= !in_i.last;
      NotInterleaved_A : assert (in_i.first == !open_q);
      WordAligned_A    : assert (start[1:0] == 0);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      MarkerBeforeLength_C : cover (take && marked && in_i.first && lane == '0);
      MarkerLast_C         : cover (take && marked && lane == 7'(in_i.words) - 7'd1);
      NoMarkers_C          : cover (take && !with_markers);
      MarkerBehindFpdu_C   : cover (take && with_markers && in_i.last && lane == 7'(in_i.words));
      RestAlone_C          : cover (out_launch_o && beat.last && !full);
      FullAndMore_C        : cover (out_launch_o && full && left != '0);
      TakesAndSends_C      : cover (take && out_launch_o);
      Stalled_C            : cover ((full || complete_q) && !out_ready_i);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("marker_inserter: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
