// An FPDU that leaves with other words than it had, through somebody's block with AXI-Streams: the adapter of marker_inserter. It is cut again.
// One FPDU is inside at a time: a beat's place in memory is that of the FPDU taken last.
module fpdu_remade #(
  parameter int unsigned                 BeatBytes = 64,
  parameter int unsigned                 InBytes   = 64,  // their streams' widths
  parameter int unsigned                 OutBytes  = 64,
  parameter rnic_stream_pkg::fpdu_beat_t Returned  = '0   // the fields that they give back have ones
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
  output logic                        s_markers_o,   // the FPDU gets markers
  output logic [8:0]                  s_position_o,  // of its first octet in the stream, modulo the marker interval
  input  logic                        m_tvalid_i,
  output logic                        m_tready_o,
  input  logic [8*OutBytes-1:0]       m_tdata_i,
  input  logic [OutBytes-1:0]         m_tkeep_i,
  input  logic                        m_tlast_i,
  input  rnic_stream_pkg::fpdu_beat_t m_fields_i
);
  localparam int unsigned BeatWords = BeatBytes / 4;
  localparam int unsigned BeatBits  = $bits(in_i);

  // In: the next FPDU waits until this one has left.
  logic                        takes, take, first, open_q, whole_q;
  rnic_stream_pkg::fpdu_beat_t latest;
  assign in_ready_o = takes && !whole_q && !waits_i;
  assign take       = in_valid_i && in_ready_o;
  words_to_axis #(
    .InWords (BeatWords),
    .OutWords(InBytes / 4),
    .UserBits(BeatBits)
  ) u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i(in_valid_i && !whole_q && !waits_i),
    .in_ready_o(takes),
    .words_i   (in_data_i),
    .count_i   (7'(in_i.words)),
    .last_i    (in_i.last),
    .lacks_i   ('0),
    .user_i    (in_i),
    .tvalid_o  (s_tvalid_o),
    .tready_i  (s_tready_i),
    .tdata_o   (s_tdata_o),
    .tkeep_o   (s_tkeep_o),
    .tlast_o   (s_tlast_o),
    .first_o   (first),
    .user_o    (latest)
  );
  always_comb begin
    s_fields_o       = latest;
    s_fields_o.first = first;
    s_fields_o.last  = s_tlast_o;
  end

  always_ff @(posedge clk_i) begin
    if (take && in_i.first) {s_markers_o, s_position_o} <= {in_i.marker[31], in_i.marker[8:0]};
  end

  logic                        ends;
  rnic_stream_pkg::fpdu_beat_t fields;
  always_comb begin
    fields        = latest;
    fields.marker = '0;
  end
  fpdu_cut #(
    .BeatBytes(BeatBytes),
    .OutBytes (OutBytes),
    .Returned (Returned)
  ) u_out (
    .clk_i,
    .rst_ni,
    .waits_i,
    .open_i  (open_q),
    .whole_i (whole_q),
    .fields_i(fields),
    .ends_o  (ends),
    .out_ready_i,
    .out_launch_o,
    .out_valid_o,
    .out_o,
    .out_data_o,
    .m_tvalid_i,
    .m_tready_o,
    .m_tdata_i,
    .m_tkeep_i,
    .m_tlast_i,
    .m_fields_i
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q  <= 1'b0;
      whole_q <= 1'b0;
    end else begin
      if (take) open_q <= 1'b1;
      if (take && in_i.last) whole_q <= 1'b1;
      if (ends) {open_q, whole_q} <= 2'b00;
    end
  end
endmodule
