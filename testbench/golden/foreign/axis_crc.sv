// An FPDU checker as somebody else would write it: AXI-Stream on both sides, every octet of the FPDU in order, CRC32c byte by byte.
// Having read the CRC field as well, a good FPDU leaves the same residue always. It has a verdict in tuser beside tlast, and every
// register waits for tready.
module axis_crc_check #(
  parameter DATA_BITS = 512,
  parameter STAGES    = 4,     // registers behind the CRC's own
  parameter USER_BITS = 2,     // 1: all FPDUs have a CRC
  parameter KEEP_ONLY = 1      // 0: the bug, which covers octets after the FPDU's end
) (
  input  wire                   aclk,
  input  wire                   aresetn,
  input  wire                   s_axis_tvalid,
  output wire                   s_axis_tready,
  input  wire [DATA_BITS-1:0]   s_axis_tdata,
  input  wire [DATA_BITS/8-1:0] s_axis_tkeep,
  input  wire                   s_axis_tlast,
  input  wire [USER_BITS-1:0]   s_axis_tuser,  // first beat; has a CRC
  output wire                   m_axis_tvalid,
  input  wire                   m_axis_tready,
  output wire [DATA_BITS-1:0]   m_axis_tdata,
  output wire [DATA_BITS/8-1:0] m_axis_tkeep,
  output wire                   m_axis_tlast,
  output wire                   m_axis_tuser   // the CRC is right
);
  localparam BYTES   = DATA_BITS / 8;
  localparam WIDTH   = DATA_BITS + BYTES + 2;
  localparam RESIDUE = 32'hb798b438;

  function automatic [31:0] next_byte(input [31:0] crc, input [7:0] octet);
    integer i;
    begin
      next_byte = crc ^ {24'd0, octet};
      for (i = 0; i < 8; i = i + 1) next_byte = (next_byte >> 1) ^ (next_byte[0] ? 32'h82f63b78 : 32'd0);
    end
  endfunction

  wire moves = !m_axis_tvalid || m_axis_tready;
  assign s_axis_tready = moves;

  reg [31:0] crc_q, crc;
  integer    b;
  always @* begin
    crc = s_axis_tuser[0] ? 32'hffffffff : crc_q;
    for (b = 0; b < BYTES; b = b + 1) begin
      if (s_axis_tkeep[b] || KEEP_ONLY == 0) crc = next_byte(crc, s_axis_tdata[8*b+:8]);
    end
  end

  reg [STAGES:0]               valid_q;
  reg [(STAGES+1)*WIDTH-1:0]   beats_q;
  always @(posedge aclk) begin
    if (!aresetn) begin
      valid_q <= 0;
    end else if (moves) begin
      valid_q <= {valid_q[STAGES-1:0], s_axis_tvalid};
      beats_q <= {beats_q[STAGES*WIDTH-1:0], (USER_BITS > 1 && !s_axis_tuser[USER_BITS-1]) || crc == RESIDUE, s_axis_tlast, s_axis_tkeep, s_axis_tdata};
      if (s_axis_tvalid) crc_q <= crc;
    end
  end
  assign m_axis_tvalid = valid_q[STAGES];
  assign {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata} = beats_q[STAGES*WIDTH+:WIDTH];
endmodule
