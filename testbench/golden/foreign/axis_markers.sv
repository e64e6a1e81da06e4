// Puts MPA markers into FPDUs (RFC 5044 section 4.3), as somebody else would write it: a word at a time. A marker precedes the word
// at each multiple of 512 octets of the stream; it tells the distance from the FPDU's length field, and 0 right before it.
module axis_markers (
  input  wire        aclk,
  input  wire        aresetn,
  input  wire        s_tvalid,
  output wire        s_tready,
  input  wire [31:0] s_tdata,
  input  wire [3:0]  s_tkeep,
  input  wire        s_tlast,
  input  wire [9:0]  s_tuser,  // whether the FPDU gets any; where it starts
  output wire        m_tvalid,
  input  wire        m_tready,
  output wire [31:0] m_tdata,
  output wire [3:0]  m_tkeep,
  output wire        m_tlast
);
  reg         begun;
  reg  [8:0]  place;
  reg  [15:0] distance;
  wire [8:0]  here  = begun ? place : s_tuser[9:1];
  wire [15:0] so_far = begun ? distance : 16'd0;
  wire        marker = s_tuser[0] && here == 9'd0;

  assign m_tvalid = s_tvalid;
  assign s_tready = m_tready && !marker;
  assign m_tdata  = marker ? {so_far[7:0], so_far[15:8], 16'd0} : s_tdata;
  assign m_tkeep  = marker ? 4'hf : s_tkeep;
  assign m_tlast  = !marker && s_tlast;

  always @(posedge aclk) begin
    if (!aresetn) begin
      begun <= 1'b0;
    end else if (s_tvalid && m_tready) begin
      begun    <= marker || !s_tlast;
      place    <= here + 9'd4;
      distance <= marker && !begun ? 16'd0 : so_far + 16'd4;
    end
  end
endmodule
