// Finds the FPDUs in received TCP streams and takes their markers out: the twin of model/rnic/rx/mpa_deframer. See
// mpa_deframer.md there for the timing.
// Outside are tables and memories, read in the same cycle and written at the edge: by in_i.flow its place
// in the current FPDU, and the store that collects this FPDU, in rows of a beat's width and without the markers,
// which are beside the rows, one after the other. With fpdu_complete_o the store goes to the end of a queue; head_row_i
// and head_marker_i belong to the store at the queue's head, which is returned with consumed_valid_o.
module mpa_deframer #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 2,
  parameter int unsigned QueueFpdus     = 2
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          in_valid_i,
  output logic                          in_ready_o,       // the last of its octets are taken
  input  rnic_stream_pkg::stream_beat_t in_i,
  input  logic [8*BeatBytes-1:0]        in_data_i,
  input  rnic_messages_pkg::mpa_place_t   place_i,
  output logic                          place_write_o,
  output rnic_messages_pkg::mpa_place_t   place_o,
  output logic [15:0]                   store_row_o,      // the first of two rows that are written
  output logic [2*BeatBytes-1:0]        store_write_o,    // which octets of both
  output logic [16*BeatBytes-1:0]       store_o,
  output logic [7:0]                    marker_index_o,
  output logic [3:0]                    marker_write_o,   // which octets of the marker
  output logic [31:0]                   marker_o,
  output logic                          fpdu_complete_o,
  output logic [7:0]                    fpdu_markers_o,
  output logic                          fpdu_marker_ok_o,
  output logic                          fpdu_straddles_o,  // it lay in more than one segment
  output logic [15:0]                   head_row_index_o,
  input  logic [8*BeatBytes-1:0]        head_row_i,
  output logic [7:0]                    head_marker_index_o,
  input  logic [31:0]                   head_marker_i,
  input  logic                          out_ready_i,      // credit: the output link has room for one more beat
  output logic                          out_launch_o,     // a beat enters the pipeline and uses that credit
  output logic                          out_valid_o,      // registered: the beat launched PipelineCycles ago
  output rnic_stream_pkg::fpdu_beat_t   out_o,
  output logic [8*BeatBytes-1:0]        out_data_o,
  input  logic                          consumed_ready_i,
  output logic                          consumed_valid_o,
  output rnic_messages_pkg::rx_consumed_t    consumed_o,
  output logic                          busy_o
);
  localparam int unsigned BeatWords   = BeatBytes / 4;
  localparam int unsigned ColumnBits  = $clog2(BeatBytes);
  localparam int unsigned MarkerWords = rnic_stream_pkg::MarkerInterval / 4 - 1;  // words between two markers
  localparam int unsigned PlacedBytes = 16;           // that stand for an FPDU: length field and tagged DDP header
  localparam int unsigned EndBytes    = 4;            // that stand for the peer's FIN

  // With the octet at 0 a stream begins: that which the flow's number had before is over, wherever it ended.
  logic [7:0]                  used_d, used_q;  // octets of the offered beat that were taken
  logic                        begins;
  rnic_messages_pkg::mpa_place_t place;
  logic                        stands;  // for an FPDU that is placed, or for the FIN
  logic                        amid;    // where no FPDU starts
  always_comb begin
    begins = in_i.offset == '0 && in_i.first && used_q == 0;
    place  = begins ? '0 : place_i;
    stands = in_i.placed || in_i.ends;
    amid   = stands && place.seen != '0;
    if (stands) begin
      place.seen          = '0;
      place.size          = '0;
      place.marker_octets = '0;
      place.straddles     = 1'b0;
    end
  end

  // Length field, ULPDU, pad and CRC field are words; a marker stands before the first one that is due at a multiple of
  // 128 words and before each 127th from there. For k of them, (k - 1) / 127 is k * ((2^21 - 1) / 127) >> 21.
  function automatic logic [16:0] wire_octets(input logic [15:0] ulpdu_length, input logic marked,
                                              input logic [6:0] start_word);
    logic [14:0] words, ahead, behind;
    logic [7:0]  count;
    words       = 15'((18'(ulpdu_length) + 18'd5) >> 2) + 15'd1;
    ahead       = {8'd0, 7'(-start_word)};
    behind      = words - ahead;
    count       = marked && words > ahead ?
                  8'd1 + 8'((30'(behind) + {8'd0, behind, 7'd0} + {1'b0, behind, 14'd0}) >> 21) : '0;
    wire_octets = {words, 2'd0} + {7'd0, count, 2'd0};
  endfunction

  // The offered octets that are still to be taken, and the size of their FPDU. An octet of the length field may have
  // come with an earlier beat.
  logic [7:0]             left;
  logic [8*BeatBytes-1:0] octets;
  logic [8:0]             start;      // the FPDU's position, as far as markers go by it
  logic [16:0]            length_at;  // in the FPDU: after a leading marker
  logic [2:0]             second_at;  // the length field's second octet, among the octets to be taken
  logic [15:0]            ulpdu_length;
  logic [16:0]            size;       // 0: not known yet
  always_comb begin
    left         = in_i.bytes - used_q;
    octets       = in_data_i >> {used_q, 3'd0};
    start        = place.next[8:0] - place.seen[8:0];
    length_at    = in_i.markers && !stands && start == 0 ? 17'd4 : 17'd0;
    second_at    = 3'(length_at + 17'd1 - place.seen);
    ulpdu_length = {second_at == 0 ? place.last_octet : octets[8*(second_at-1)+:8], octets[8*second_at+:8]};
    size         = place.size;
    if (place.size == 0 && place.seen + 17'(left) >= length_at + 17'd2) begin
      size = wire_octets(ulpdu_length, in_i.markers, start[8:2]);
    end
    if (in_i.ends) size = '0;
  end

  // Taken are those of one FPDU, or those that stand for it.
  logic [7:0] count;
  logic       completes, full, take;
  assign count         = size != 0 && size - place.seen < 17'(left) ? 8'(size - place.seen) : left;
  assign completes     = stands || (size != 0 && size - place.seen == 17'(count));
  assign take          = in_valid_i && !(completes && full);
  assign in_ready_o    = take && count == left;
  assign place_write_o = take;

  // Among them at most one marker, or a part of it, from octet marker_from on: the datapath is narrower than the distance
  // of two. FPDUPTR counts from the length field, and is 0 right before it; its two low bits do not matter.
  logic [8:0]             marker_from;
  logic [1:0]             lane;    // the first octet of the marker that is there
  logic [2:0]             marked;  // octets of the marker that are there
  logic [16:0]            marker_at;
  logic [13:0]            pointer;  // in words
  logic                   pointer_ok;
  logic [8*BeatBytes-1:0] plain;
  always_comb begin
    marker_from = place.next[8:2] == 0 ? '0 : -place.next[8:0];
    lane        = place.next[8:2] == 0 ? place.next[1:0] : '0;
    marked      = '0;
    if (in_i.markers && !stands && marker_from < 9'(count)) begin
      marked = 9'(count) - marker_from < 9'd4 - 9'(lane) ? 3'(9'(count) - marker_from) : 3'd4 - 3'(lane);
    end
    plain = octets >> {marked, 3'd0};
    for (int unsigned i = 0; i < BeatBytes; i++) begin
      if (i < 32'(marker_from)) plain[8*i+:8] = octets[8*i+:8];
    end

    marker_index_o = place.marker_octets[9:2];
    marker_o       = 32'(octets >> {marker_from, 3'd0}) << {lane, 3'd0};
    for (int unsigned i = 0; i < 4; i++) begin
      marker_write_o[i] = take && i >= 32'(lane) && i < 32'(lane) + 32'(marked);
    end
    marker_at  = place.seen + 17'(marker_from) - 17'(lane);
    pointer    = marker_at == 0 ? '0 : marker_at[15:2] - length_at[15:2];
    pointer_ok = (!marker_write_o[2] || marker_o[23:16] == pointer[13:6]) &&
                 (!marker_write_o[3] || marker_o[31:26] == pointer[5:0]);
  end

  // The others are one after the other.
  logic [16:0]           to;
  logic [ColumnBits-1:0] column;
  always_comb begin
    to          = place.seen - 17'(place.marker_octets);
    column      = to[ColumnBits-1:0];
    store_row_o = 16'(to >> ColumnBits);
    store_o     = {(8 * BeatBytes)'(0), plain} << {column, 3'd0};
    for (int unsigned i = 0; i < 2 * BeatBytes; i++) begin
      store_write_o[i] = take && i >= 32'(column) && i < 32'(column) + 32'(count) - 32'(marked);
    end
  end

  logic [9:0] marker_octets;
  logic       marker_ok;
  always_comb begin
    marker_octets = place.marker_octets + 10'(marked);
    marker_ok     = (place.seen == 0 || place.marker_ok) && pointer_ok && !amid;

    place_o               = place;
    place_o.next          = place.next + (stands ? 64'(size) : 64'(count));
    place_o.seen          = completes ? '0 : place.seen + 17'(count);
    place_o.size          = completes ? '0 : size;
    place_o.marker_octets = completes ? '0 : marker_octets;
    place_o.last_octet    = 8'(octets >> {count - 8'd1, 3'd0});
    place_o.marker_ok     = marker_ok;
    place_o.straddles     = !completes && (place.straddles || (in_i.last && count == left));

    used_d = used_q;
    if (take) used_d = in_ready_o ? '0 : used_q + count;
  end

  // A complete FPDU, or what is left of it.
  typedef struct packed {
    logic [31:0] flow;
    logic [31:0] qpn;
    logic [7:0]  life;
    logic [16:0] wire_octets;
    logic [14:0] words;
    logic [7:0]  markers;
    logic [7:0]  to_marker;  // words from the next beat's start
    logic        marker_ok;
    logic        crc_on;
    logic        placed;
    logic        ends;
  } fpdu_t;
  fpdu_t                  completed, head, rest;
  localparam int unsigned FpduBits = $bits(head);

  logic [QueueFpdus*FpduBits-1:0] queue_d, queue_q;  // the head is the least significant
  logic [6:0]                     queued_d, queued_q;
  logic [15:0]                    row_d, row_q;        // of the head's next beat
  logic [7:0]                     marker_d, marker_q;  // its next marker
  assign full                = queued_q == 7'(QueueFpdus);
  assign head                = queue_q[FpduBits-1:0];
  assign head_row_index_o    = row_q;
  assign head_marker_index_o = marker_q;

  // Out: the head's next beat, and with the last one the octets that its FPDU had on the wire.
  rnic_stream_pkg::fpdu_beat_t beat;
  always_comb begin
    beat              = '0;
    beat.flow         = head.flow;
    beat.qpn          = head.qpn;
    beat.life         = head.life;
    beat.words        = head.words > 15'(BeatWords) ? 6'(BeatWords) : head.words[5:0];
    beat.first        = row_q == 0;
    beat.last         = head.words <= 15'(BeatWords);
    beat.marker_ok    = head.marker_ok;
    beat.crc_on       = head.crc_on;
    beat.placed       = head.placed;
    beat.ends         = head.ends;
    beat.marker_valid = head.markers != 0 && head.to_marker < 8'(beat.words);
    if (beat.marker_valid) begin
      beat.marker_lane = head.to_marker[4:0];
      beat.marker      = head_marker_i;
    end
    rest           = head;
    rest.words     = head.words - 15'(beat.words);
    rest.markers   = head.markers - 8'(beat.marker_valid);
    rest.to_marker = head.to_marker + (beat.marker_valid ? 8'(MarkerWords) : 8'd0) - 8'(beat.words);
  end
  assign out_launch_o     = queued_q != 0 && out_ready_i && (!beat.last || consumed_ready_i);
  assign consumed_valid_o = out_launch_o && beat.last;
  assign consumed_o       = {head.flow, 32'(head.wire_octets)};

  always_comb begin
    completed.flow        = in_i.flow;
    completed.qpn         = in_i.qpn;
    completed.life        = in_i.life;
    completed.wire_octets = size;
    completed.markers     = marker_octets[9:2];
    completed.words       = stands ? 15'(in_i.bytes[7:2]) : size[16:2] - 15'(completed.markers);
    completed.to_marker   = 8'(7'(-start[8:2]));
    completed.marker_ok   = marker_ok;
    completed.crc_on      = in_i.crc;
    completed.placed      = in_i.placed;
    completed.ends        = in_i.ends;
  end
  assign fpdu_complete_o  = take && completes;
  assign fpdu_markers_o   = completed.markers;
  assign fpdu_marker_ok_o = marker_ok;
  assign fpdu_straddles_o = place.straddles;

  always_comb begin
    queue_d  = queue_q;
    queued_d = queued_q;
    row_d    = row_q;
    marker_d = marker_q;
    if (out_launch_o) begin
      queue_d[FpduBits-1:0] = rest;
      row_d                 = row_q + 16'd1;
      marker_d              = marker_q + 8'(beat.marker_valid);
    end
    if (consumed_valid_o) begin
      queue_d  = queue_q >> FpduBits;
      queued_d = queued_q - 7'd1;
      row_d    = '0;
      marker_d = '0;
    end
    if (fpdu_complete_o) begin
      for (int unsigned i = 0; i < QueueFpdus; i++) begin
        if (i == 32'(queued_d)) queue_d[FpduBits*i+:FpduBits] = completed;
      end
      queued_d = queued_d + 7'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q   <= '0;
      queued_q <= '0;
      row_q    <= '0;
      marker_q <= '0;
    end else begin
      used_q   <= used_d;
      queued_q <= queued_d;
      row_q    <= row_d;
      marker_q <= marker_d;
    end
  end

  always_ff @(posedge clk_i) begin
    queue_q <= queue_d;
  end

  beat_out #(
    .BeatBytes(BeatBytes),
    .Cycles   (PipelineCycles)
  ) u_out (
    .clk_i,
    .rst_ni,
    .launch_i(out_launch_o),
    .beat_i  (beat),
    .data_i  (head_row_i),
    .valid_o (out_valid_o),
    .beat_o  (out_o),
    .data_o  (out_data_o)
  );

  assign busy_o = used_q != 0 || queued_q != 0;

  // A flow's octets come in order, an FPDU starts at a word (a FIN may cut one short anywhere), and a beat has octets: a length field and a tagged DDP header
  // if it stands for a whole FPDU, a word if it stands for the FIN.
  always_ff @(posedge clk_i) begin
    if (rst_ni && take) begin
      InOrder_A      : assert (in_i.offset + 64'(used_q) == place.next);
      WordAligned_A  : assert (in_i.ends || start[1:0] == 0);
      BytesInRange_A : assert (left != 0 && in_i.bytes <= 8'(BeatBytes));
      PlacedHeader_A : assert (!in_i.placed || (in_i.first && in_i.last && in_i.bytes == 8'(PlacedBytes)));
      EndWord_A      : assert (!in_i.ends || (!in_i.placed && in_i.first && in_i.last && in_i.bytes == 8'(EndBytes)));
      WordsOnly_A    : assert (!completes || marker_octets[1:0] == 0);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      SeveralFpdusInABeat_C : cover (take && completes && count != left);
      LengthOfTwoBeats_C    : cover (take && second_at == '0 && place.seen != '0 && size != '0 && place.size == '0);
      MarkerOfTwoBeats_C    : cover (take && marked != '0 && marked != 3'd4);
      MarkerBeforeLength_C  : cover (take && marked != '0 && length_at != '0 && place.seen <= 17'd3);
      PointerWrong_C        : cover (take && marked != '0 && !pointer_ok);
      Straddles_C           : cover (fpdu_complete_o && place.straddles);
      QueueFull_C           : cover (in_valid_i && completes && full);
      Placed_C              : cover (fpdu_complete_o && in_i.placed);
      PlacedAmidAnFpdu_C    : cover (fpdu_complete_o && in_i.placed && amid);
      Ends_C                : cover (fpdu_complete_o && in_i.ends);
      EndsAmidAnFpdu_C      : cover (fpdu_complete_o && in_i.ends && amid);
      NewConnection_C       : cover (take && begins && place_i.next != '0);
      WaitsForConsumed_C    : cover (queued_q != '0 && out_ready_i && beat.last && !consumed_ready_i);
      Stalled_C             : cover (queued_q != '0 && !out_ready_i);
    end
  end

  if (BeatBytes < 16 || BeatBytes > 128 || (BeatBytes & (BeatBytes - 1)) != 0) begin : gen_check
    $error("mpa_deframer: BeatBytes must be a power of two from 16 to 128");
  end
endmodule
