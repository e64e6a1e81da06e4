// Makes FPDUs of ULPDUs: the twin of model/rnic/tx/mpa_framer. See mpa_framer.md there for the timing.
// The ULPDU at the head of the input lies in a buffer that is read as it is sent: the word of a beat's width that
// mem_index_o names is on mem_data_i in the same cycle; what it holds after the ULPDU's end does not matter. The first
// beat carries the ULPDU's markers and position to marker_inserter, in the marker's place.
module mpa_framer #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::ulpdu_t     in_i,
  output logic [15:0]                 mem_index_o,
  input  logic [8*BeatBytes-1:0]      mem_data_i,
  input  logic                        out_ready_i,   // credit: the output link has room for one more beat
  output logic                        out_launch_o,  // a beat enters the pipeline and uses that credit
  output logic                        out_valid_o,   // registered: the beat launched PipelineCycles ago
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  localparam int unsigned BeatWords = BeatBytes / 4;

  // The FPDU that is being sent, when not in its first beat.
  logic                    sending_d, sending_q;
  logic [14:0]             words_left_d, words_left_q;
  logic [16:0]             octets_left_d, octets_left_q;  // length field and ULPDU
  logic [15:0]             index_d, index_q;
  logic [15:0]             carry_d, carry_q;              // the two octets that the length field has pushed on
  rnic_stream_pkg::ulpdu_t ulpdu_d, ulpdu_q;

  assign ulpdu_d      = sending_q ? ulpdu_q : in_i;
  assign out_launch_o = out_ready_i && (sending_q || in_valid_i);
  assign in_ready_o   = out_ready_i && !sending_q;
  assign mem_index_o  = sending_q ? index_q : '0;

  // Length field, ULPDU and pad are a multiple of four; then the CRC field (RFC 5044 section 4.1).
  logic [14:0] words;      // to send, this beat's included
  logic [16:0] octets;     // length field and ULPDU
  logic [8*BeatBytes+15:0] shifted;
  rnic_stream_pkg::fpdu_beat_t beat;
  logic [8*BeatBytes-1:0]      data;
  always_comb begin
    words   = sending_q ? words_left_q : 15'((18'(in_i.bytes) + 18'd5) >> 2) + 15'd1;
    octets  = sending_q ? octets_left_q : 17'(in_i.bytes) + 17'd2;
    shifted = {mem_data_i, sending_q ? carry_q : {in_i.bytes[7:0], in_i.bytes[15:8]}};
    data    = '0;
    for (int unsigned i = 0; i < BeatBytes; i++) begin
      if (i < 32'(octets)) data[8*i+:8] = shifted[8*i+:8];
    end

    beat               = '0;
    beat.flow          = ulpdu_d.flow;
    beat.words         = words > 15'(BeatWords) ? 6'(BeatWords) : words[5:0];
    beat.first         = !sending_q;
    beat.last          = words <= 15'(BeatWords);
    beat.completes_wqe = beat.last && ulpdu_d.completes_wqe;
    beat.marker_ok     = 1'b1;
    beat.crc_on        = ulpdu_d.crc;
    if (beat.first) beat.marker = {ulpdu_d.markers, 22'd0, ulpdu_d.position};
  end

  // A beat takes BeatBytes octets off the memory and sends two of them with the next one.
  always_comb begin
    sending_d     = !beat.last;
    words_left_d  = words - 15'(BeatWords);
    octets_left_d = octets > 17'(BeatBytes) ? octets - 17'(BeatBytes) : '0;
    index_d       = mem_index_o + 16'd1;
    carry_d       = shifted[8*BeatBytes+:16];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)           sending_q <= 1'b0;
    else if (out_launch_o) sending_q <= sending_d;
  end

  always_ff @(posedge clk_i) begin
    if (out_launch_o) begin
      words_left_q  <= words_left_d;
      octets_left_q <= octets_left_d;
      index_q       <= index_d;
      carry_q       <= carry_d;
      ulpdu_q       <= ulpdu_d;
    end
  end

  beat_out #(
    .BeatBytes(BeatBytes),
    .Cycles   (PipelineCycles)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .beat_i  (beat),
    .data_i  (data),
    .valid_o (out_valid_o),
    .beat_o  (out_o),
    .data_o  (out_data_o)
  );

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoPad_C        : cover (in_valid_i && in_ready_o && in_i.bytes[1:0] == 2'd2);
      ThreePads_C    : cover (in_valid_i && in_ready_o && in_i.bytes[1:0] == 2'd3);
      OneBeat_C      : cover (in_valid_i && in_ready_o && beat.last);
      CrcAlone_C     : cover (out_launch_o && beat.last && beat.words == 6'd1);
      FullLastBeat_C : cover (out_launch_o && beat.last && beat.words == 6'(BeatWords));
      BackToBack_C   : cover (in_valid_i && in_ready_o && out_valid_o && out_o.last);
      Stalled_C      : cover ((in_valid_i || sending_q) && !out_ready_i);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("mpa_framer: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
