// Makes an FPDU of a ULPDU (RFC 5044 section 4.1), but for its CRC field, as somebody else would write it: a word at a time. The length
// goes first, in two octets, so each word has two octets of the one before; zeros fill the last word.
module axis_framer (
  input  wire        clk,
  input  wire        reset_n,
  input  wire        u_tvalid,
  output wire        u_tready,
  input  wire [31:0] u_tdata,
  input  wire [3:0]  u_tkeep,
  input  wire        u_tlast,
  input  wire [15:0] u_length,
  output wire        f_tvalid,
  input  wire        f_tready,
  output wire [31:0] f_tdata,
  output wire [3:0]  f_tkeep,
  output wire        f_tlast
);
  reg         begun, rest;  // in a ULPDU; only its last two octets are left
  reg  [15:0] carry;
  wire [31:0] octets = u_tdata & {{8{u_tkeep[3]}}, {8{u_tkeep[2]}}, {8{u_tkeep[1]}}, {8{u_tkeep[0]}}};

  assign f_tvalid = u_tvalid || rest;
  assign u_tready = f_tready && !rest;
  assign f_tdata  = {rest ? 16'd0 : octets[15:0], begun ? carry : {u_length[7:0], u_length[15:8]}};
  assign f_tkeep  = 4'hf;
  assign f_tlast  = rest || (u_tlast && !u_tkeep[2]);

  always @(posedge clk) begin
    if (!reset_n) begin
      begun <= 1'b0;
      rest  <= 1'b0;
    end else if (f_tvalid && f_tready) begin
      begun <= !f_tlast;
      rest  <= !rest && u_tlast && u_tkeep[2];
      carry <= octets[31:16];
    end
  end
endmodule
