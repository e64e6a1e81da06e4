// The beats of FPDUs at one place: one FPDU after the other, each of a first beat, full ones and a last one.
module fpdu_checker #(
  parameter int unsigned BeatBytes = 64,
  parameter bit          Beside    = 1'b0,  // markers may be beside the words, where the receiver took them out
  parameter bit          Starts    = 1'b0,  // a first beat's marker says where its FPDU starts
  parameter bit          Lengths   = 1'b0   // the length field stands in the first two octets, and no markers among the words
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        take_i,   // this beat passes
  input rnic_stream_pkg::fpdu_beat_t beat_i,
  input logic [15:0]                 octets_i  // its first two
);
  localparam int unsigned BeatWords = BeatBytes / 4;

  logic                        open_q;   // an FPDU has begun
  rnic_stream_pkg::fpdu_beat_t first_q;  // its first beat,
  logic [14:0]                 due_q;    // and the words that it has by its length field,
  logic [14:0]                 words_q;  // and has had
  logic [14:0]                 words, due;
  // Length field, ULPDU and pad are a multiple of four; then the CRC field (RFC 5044 section 4.1).
  assign due   = beat_i.first ? 15'((18'({octets_i[7:0], octets_i[15:8]}) + 18'd5) >> 2) + 15'd1 : due_q;
  assign words = (beat_i.first ? '0 : words_q) + 15'(beat_i.words);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)     open_q <= 1'b0;
    else if (take_i) open_q <= !beat_i.last;
  end
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      words_q <= words;
      due_q   <= due;
      if (beat_i.first) first_q <= beat_i;
    end
  end

  FirstAndLastAlternate_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> beat_i.first == !open_q);
  WordsInRange_A          : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> beat_i.words >= 6'd1 && beat_i.words <= 6'(BeatWords));
  FullBeforeLast_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && !beat_i.last |-> beat_i.words >= 6'(BeatWords));
  OneFlow_A               : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && !beat_i.first && open_q |->
    {beat_i.flow, beat_i.qpn, beat_i.life} == {first_q.flow, first_q.qpn, first_q.life});
  OneKind_A               : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && !beat_i.first && open_q |->
    {beat_i.crc_on, beat_i.placed, beat_i.ends} == {first_q.crc_on, first_q.placed, first_q.ends});
  CompletesWithItsLast_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.completes_wqe |-> beat_i.last);
  OneBeat_A               : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && (beat_i.placed || beat_i.ends) |-> beat_i.first && beat_i.last);
  EndIsAWord_A            : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.ends |-> !beat_i.placed && beat_i.words == 6'd1);
  if (Beside) begin : gen_beside
    LaneInBeat_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.marker_valid |-> 6'(beat_i.marker_lane) < beat_i.words);
    MarkersAreOfFpdus_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.marker_valid |-> !beat_i.placed && !beat_i.ends);
  end else begin : gen_among
    NoMarkerBeside_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> !beat_i.marker_valid);
  end
  if (Starts) begin : gen_starts
    StartsOnAWord_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.first |-> beat_i.marker[30:9] == '0 && beat_i.marker[1:0] == '0);
    StartInTheFirst_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && !beat_i.first |-> beat_i.marker == '0);
  end
  if (Lengths) begin : gen_lengths
    LengthOfItsField_A : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.last && !beat_i.placed && !beat_i.ends |-> words == due);
  end
`ifdef RNIC_SVA_FULL
  LastComes_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.first && !beat_i.last |-> s_eventually (take_i && beat_i.last));
  BackToBack_C : cover property (@(posedge clk_i) disable iff (!rst_ni) take_i && beat_i.last ##1 take_i && beat_i.first);
  Long_C       : cover property (@(posedge clk_i) disable iff (!rst_ni) (take_i && !beat_i.last) [*8]);
`endif
endmodule
