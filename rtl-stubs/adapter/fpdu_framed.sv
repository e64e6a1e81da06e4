// A ULPDU from its memory into somebody's framer as an AXI-Stream, and out of it as an FPDU: the adapter of mpa_framer. One is inside at
// a time.
module fpdu_framed #(
  parameter int unsigned                 BeatBytes = 64,
  parameter int unsigned                 InBytes   = 64,    // their streams' widths
  parameter int unsigned                 OutBytes  = 64,
  parameter bit                          OutHasCrc = 1'b1,  // they leave room for the CRC field
  parameter rnic_stream_pkg::fpdu_beat_t Returned  = '0     // the fields that they give back have ones
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        waits_i,  // they are in reset
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::ulpdu_t     in_i,
  output logic [15:0]                 mem_index_o,
  input  logic [8*BeatBytes-1:0]      mem_data_i,
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
  output rnic_stream_pkg::ulpdu_t     s_fields_o,
  input  logic                        m_tvalid_i,
  output logic                        m_tready_o,
  input  logic [8*OutBytes-1:0]       m_tdata_i,
  input  logic [OutBytes-1:0]         m_tkeep_i,
  input  logic                        m_tlast_i,
  input  rnic_stream_pkg::fpdu_beat_t m_fields_i
);
  localparam int unsigned BeatWords = BeatBytes / 4;

  // In: the ULPDU is taken with the first word of a beat's width, the others are read one a cycle.
  logic                    takes, take, reads, last;
  logic                    open_q, whole_q;
  logic [15:0]             left, left_q, index_q;
  logic [1:0]              unused;
  rnic_stream_pkg::ulpdu_t ulpdu_q;
  assign in_ready_o  = takes && !open_q && !waits_i;
  assign take        = in_valid_i && in_ready_o;
  assign reads       = open_q ? !whole_q : in_valid_i && !waits_i;
  assign left        = open_q ? left_q : in_i.bytes;
  assign last        = left <= 16'(BeatBytes);
  assign mem_index_o = open_q ? index_q : '0;
  words_to_axis #(
    .InWords (BeatWords),
    .OutWords(InBytes / 4),
    .MayLack (1'b1)
  ) u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i(reads),
    .in_ready_o(takes),
    .words_i   (mem_data_i),
    .count_i   (last ? 7'((left + 16'd3) >> 2) : 7'(BeatWords)),
    .last_i    (last),
    .lacks_i   (2'(-left[1:0])),
    .user_i    (1'b0),
    .tvalid_o  (s_tvalid_o),
    .tready_i  (s_tready_i),
    .tdata_o   (s_tdata_o),
    .tkeep_o   (s_tkeep_o),
    .tlast_o   (s_tlast_o),
    .first_o   (unused[0]),
    .user_o    (unused[1])
  );
  assign s_fields_o = ulpdu_q;

  // Out: the first beat tells marker_inserter where the FPDU lies.
  logic                        ends;
  rnic_stream_pkg::fpdu_beat_t fields;
  always_comb begin
    fields               = '0;
    fields.flow          = ulpdu_q.flow;
    fields.crc_on        = ulpdu_q.crc;
    fields.completes_wqe = ulpdu_q.completes_wqe;
    fields.marker_ok     = 1'b1;
    fields.marker        = {ulpdu_q.markers, 22'd0, ulpdu_q.position};
  end
  fpdu_cut #(
    .BeatBytes(BeatBytes),
    .OutBytes (OutBytes),
    .HasCrc   (OutHasCrc),
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
      if (reads && takes && last) whole_q <= 1'b1;
      if (ends) {open_q, whole_q} <= 2'b00;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) ulpdu_q <= in_i;
    if (reads && takes) begin
      left_q  <= left - 16'(BeatBytes);
      index_q <= mem_index_o + 16'd1;
    end
  end
endmodule
