// An FPDU through somebody's block with AXI-Streams, and out of it in the beats in which it came: the adapter of crc_check and
// crc_insert. All fields of a beat wait beside the block, any FPDU's beats at least; those that it gives back (`Returned`) take the
// place of ours. A beat takes its place in the link when it is there, so their ready falls where the link has no room.
module fpdu_through #(
  parameter int unsigned                 BeatBytes  = 64,
  parameter int unsigned                 InBytes    = 64,    // their streams' widths
  parameter int unsigned                 OutBytes   = 64,
  parameter bit                          Inline     = 1'b0,  // markers are among the octets, where they were on the wire
  parameter bit                          InHasCrc   = 1'b1,  // the CRC field is among the octets
  parameter bit                          OutHasCrc  = 1'b1,
  parameter bit                          CrcAlways  = 1'b0,  // they do not know which FPDUs have a CRC
  parameter rnic_stream_pkg::fpdu_beat_t Returned   = '0     // the fields that they give back have ones
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        waits_i,  // they are in reset
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t in_i,
  input  logic [8*BeatBytes-1:0]      in_data_i,
  input  logic                        out_ready_i,
  output logic                        out_launch_o,
  output logic                        out_valid_o,
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o,
  // To them and from them.
  output logic                        s_tvalid_o,
  input  logic                        s_tready_i,
  output logic [8*InBytes-1:0]        s_tdata_o,
  output logic [InBytes-1:0]          s_tkeep_o,
  output logic                        s_tlast_o,
  output rnic_stream_pkg::fpdu_beat_t s_fields_o,
  input  logic                        m_tvalid_i,
  output logic                        m_tready_o,
  input  logic [8*OutBytes-1:0]       m_tdata_i,
  input  logic [OutBytes-1:0]         m_tkeep_i,
  input  logic                        m_tlast_i,
  input  rnic_stream_pkg::fpdu_beat_t m_fields_i
);
  localparam int unsigned BeatWords = BeatBytes / 4;
  localparam int unsigned Lanes     = BeatWords + 1;  // with a marker
  localparam int unsigned BeatBits  = $bits(in_i);

  // In: the marker goes where it stood. What stands for an FPDU that is placed, or for a FIN, has no CRC to be checked.
  logic [32*Lanes-1:0]         words;
  logic [6:0]                  count;
  rnic_stream_pkg::fpdu_beat_t shown;
  always_comb begin
    words = {32'd0, in_data_i};
    if (Inline && in_i.marker_valid) begin
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        if (lane == 32'(in_i.marker_lane))     words[32*lane+:32] = in_i.marker;
        else if (lane > 32'(in_i.marker_lane)) words[32*lane+:32] = in_data_i[32*(lane-1)+:32];
      end
    end
    count        = 7'(in_i.words) + 7'(Inline && in_i.marker_valid) - 7'(!InHasCrc && in_i.last);
    shown        = in_i;
    shown.crc_on = in_i.crc_on && !in_i.placed && !in_i.ends;
  end

  logic                        room, takes, first;
  rnic_stream_pkg::fpdu_beat_t fields;
  assign in_ready_o = takes && room && !waits_i;
  words_to_axis #(
    .InWords (Lanes),
    .OutWords(InBytes / 4),
    .MayEnd  (!InHasCrc),
    .UserBits(BeatBits)
  ) u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i(in_valid_i && room && !waits_i),
    .in_ready_o(takes),
    .words_i   (words),
    .count_i   (count),
    .last_i    (in_i.last),
    .lacks_i   ('0),
    .user_i    (shown),
    .tvalid_o  (s_tvalid_o),
    .tready_i  (s_tready_i),
    .tdata_o   (s_tdata_o),
    .tkeep_o   (s_tkeep_o),
    .tlast_o   (s_tlast_o),
    .first_o   (first),
    .user_o    (fields)
  );
  always_comb begin
    s_fields_o       = fields;
    s_fields_o.first = first;
    s_fields_o.last  = s_tlast_o;
  end

  // Beside them: each beat's fields, and its last word, which may be the CRC field.
  logic                        there, leaves;
  rnic_stream_pkg::fpdu_beat_t beat;
  logic [31:0]                 crc;
  carried_fields #(
    .Width (BeatBits + 32),
    .Places(2 * 65536 / BeatBytes)
  ) u_fields (
    .clk_i,
    .rst_ni,
    .room_o  (room),
    .push_i  (in_valid_i && in_ready_o),
    .data_i  ({in_i, 32'(in_data_i >> {in_i.words - 6'd1, 5'd0})}),
    .valid_o (there),
    .oldest_o({beat, crc}),
    .pop_i   (leaves)
  );

  // Out: as many words as the beat had. The last beat has what is left.
  logic [32*Lanes-1:0]         got;
  logic [6:0]                  pending, need;
  logic                        complete, marked;
  rnic_stream_pkg::fpdu_beat_t theirs;
  assign marked       = Inline && beat.marker_valid;
  assign need         = 7'(beat.words) + 7'(marked) - 7'(!OutHasCrc && beat.last);
  assign leaves       = there && out_ready_i && (beat.last ? complete : pending >= need);
  assign out_launch_o = leaves;
  axis_to_words #(
    .InWords (OutBytes / 4),
    .OutWords(Lanes),
    .UserBits(BeatBits)
  ) u_out (
    .clk_i,
    .rst_ni,
    .tvalid_i  (m_tvalid_i && !waits_i),
    .tready_o  (m_tready_o),
    .tdata_i   (m_tdata_i),
    .tkeep_i   (m_tkeep_i),
    .tlast_i   (m_tlast_i),
    .tuser_i   (m_fields_i),
    .words_o   (got),
    .pending_o (pending),
    .complete_o(complete),
    .user_o    (theirs),
    .taken_i   (leaves ? need : '0),
    .ends_i    (leaves && beat.last)
  );

  // The CRC field stays as it was where they do not have it, and where there is no CRC and they do not know.
  logic keeps_crc;
  assign keeps_crc = !OutHasCrc || (!beat.crc_on && (CrcAlways || !InHasCrc));

  // A verdict belongs to the FPDU's end.
  rnic_stream_pkg::fpdu_beat_t taken, left;
  logic [8*BeatBytes-1:0]      data;
  always_comb begin
    taken = Returned;
    if (!beat.last) begin
      taken.crc_ok        = 1'b0;
      taken.completes_wqe = 1'b0;
    end
    left = (beat & ~taken) | (theirs & taken);
    if (CrcAlways && taken.crc_ok && (!beat.crc_on || beat.placed || beat.ends)) left.crc_ok = 1'b1;
    if (beat.last) left.words = 6'(pending - 7'(marked) + 7'(!OutHasCrc));

    data = got[8*BeatBytes-1:0];
    if (marked) begin
      left.marker = got[32*32'(beat.marker_lane)+:32];
      for (int unsigned lane = 0; lane < BeatWords; lane++) begin
        if (lane >= 32'(beat.marker_lane)) data[32*lane+:32] = got[32*(lane+1)+:32];
      end
    end
    if (beat.last && keeps_crc) data[32*(32'(left.words)-1)+:32] = crc;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_o <= 1'b0;
    else         out_valid_o <= leaves;
  end
  always_ff @(posedge clk_i) begin
    out_o      <= left;
    out_data_o <= data;
  end

  // They give back what they got. A last beat that is somewhat shorter or longer goes on, to be compared.
  logic short, long;
  assign short = complete && (beat.last ? pending <= 7'(marked) : pending < need || (OutHasCrc && pending == need));
  assign long  = beat.last && (complete ? pending > 7'(BeatWords) + 7'(marked) - 7'(!OutHasCrc) : pending > need);
  logic waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= 1'b1;
    else         waited_q <= waits_i;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NothingInReset_A : assert (waits_i || !(waited_q && m_tvalid_i)) else $error("tvalid is 1 at the end of reset");
      NotByItself_A    : assert (there || pending == '0) else $error("words leave that never came");
      NotShorter_A     : assert (!there || !short) else $error("an FPDU leaves with fewer beats than it had");
      NotLonger_A      : assert (!there || !long) else $error("an FPDU leaves with more words than it had");
    end
  end
endmodule
