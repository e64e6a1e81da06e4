// The FPDUs that somebody's AXI-Stream gives, one at a time, as beats of ours: full ones, and a rest. A beat takes its place in the link
// when it is there.
module fpdu_cut #(
  parameter int unsigned                 BeatBytes = 64,
  parameter int unsigned                 OutBytes  = 64,    // their stream's width
  parameter bit                          HasCrc    = 1'b1,  // the CRC field is among their octets; else it is 0
  parameter rnic_stream_pkg::fpdu_beat_t Returned  = '0     // the fields that they give back have ones
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        waits_i,   // they are in reset
  input  logic                        open_i,    // an FPDU is inside
  input  logic                        whole_i,   // all of it has come
  input  rnic_stream_pkg::fpdu_beat_t fields_i,  // of its last beat, and in `marker` what its first beat has there
  output logic                        ends_o,    // it has left
  input  logic                        out_ready_i,
  output logic                        out_launch_o,
  output logic                        out_valid_o,
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o,
  input  logic                        m_tvalid_i,
  output logic                        m_tready_o,
  input  logic [8*OutBytes-1:0]       m_tdata_i,
  input  logic [OutBytes-1:0]         m_tkeep_i,
  input  logic                        m_tlast_i,
  input  rnic_stream_pkg::fpdu_beat_t m_fields_i
);
  localparam int unsigned BeatWords = BeatBytes / 4;
  localparam int unsigned BeatBits  = $bits(fields_i);

  logic [32*BeatWords-1:0]     got;
  logic [6:0]                  pending, rest;
  logic                        complete, last, leaves, first_q;
  rnic_stream_pkg::fpdu_beat_t theirs, left;
  assign rest         = pending + 7'(!HasCrc);
  assign last         = complete && rest <= 7'(BeatWords);
  assign leaves       = out_ready_i && open_i && (complete || pending > 7'(BeatWords));
  assign ends_o       = leaves && last;
  assign out_launch_o = leaves;
  axis_to_words #(
    .InWords (OutBytes / 4),
    .OutWords(BeatWords),
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
    .taken_i   (!leaves ? '0 : last ? pending : 7'(BeatWords)),
    .ends_i    (ends_o)
  );
  logic [8*BeatBytes-1:0] data;
  always_comb begin
    left       = (fields_i & ~Returned) | (theirs & Returned);
    left.words = last ? rest[5:0] : 6'(BeatWords);
    left.first = first_q;
    left.last  = last;
    if (!first_q) left.marker = '0;
    if (!last) left.completes_wqe = 1'b0;
    for (int unsigned i = 0; i < BeatWords; i++) data[32*i+:32] = 7'(i) < pending ? got[32*i+:32] : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q     <= 1'b1;
      out_valid_o <= 1'b0;
    end else begin
      if (leaves) first_q <= last;
      out_valid_o <= leaves;
    end
  end
  always_ff @(posedge clk_i) begin
    out_o      <= left;
    out_data_o <= data;
  end

  logic waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= 1'b1;
    else         waited_q <= waits_i;
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NothingInReset_A : assert (waits_i || !(waited_q && m_tvalid_i)) else $error("tvalid is 1 at the end of reset");
      NotByItself_A    : assert (open_i || pending == '0) else $error("words leave that never came");
      NotEmpty_A       : assert (!leaves || rest != '0) else $error("an FPDU leaves without any words");
      NotEarly_A       : assert (!ends_o || whole_i) else $error("an FPDU ends before it has come");
    end
  end
endmodule
