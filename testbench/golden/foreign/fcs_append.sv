// Appends CRC32c to packets, as somebody else would write it: 256 bits wide, names of its own, a synchronous reset that is active
// when high and counts from its third edge on. The packet comes without the field; where its last beat is full, one more follows.
module fcs_append (
  input              ck,
  input              rst,
  input              i_vld,
  output             i_rdy,
  input      [255:0] i_dat,
  input      [31:0]  i_ben,
  input              i_eop,
  output reg         o_vld,
  input              o_rdy,
  output reg [255:0] o_dat,
  output reg [31:0]  o_ben,
  output reg         o_eop
);
  reg  [31:0] sum, next, fcs;
  reg         extra;
  reg  [1:0]  rst_q;
  integer     i, k, n;
  wire        free = !o_vld || o_rdy;
  assign i_rdy = free && !extra;

  always @* begin
    next = sum;
    n    = 0;
    for (i = 0; i < 32; i = i + 1) begin
      if (i_ben[i]) begin
        n    = i + 1;
        next = next ^ {24'd0, i_dat[8*i+:8]};
        for (k = 0; k < 8; k = k + 1) next = next[0] ? {1'b0, next[31:1]} ^ 32'h82f63b78 : {1'b0, next[31:1]};
      end
    end
  end

  always @(posedge ck) begin
    rst_q <= {rst_q[0], rst};
    if (rst && rst_q == 2'b11) begin
      o_vld <= 0;
      extra <= 0;
      sum   <= 32'hffffffff;
    end else if (free) begin
      o_vld <= extra || i_vld;
      extra <= 0;
      if (extra) begin
        o_dat <= {224'd0, fcs};
        o_ben <= 32'h0000000f;
        o_eop <= 1;
      end else if (i_vld) begin
        o_dat <= i_dat;
        o_ben <= i_ben;
        o_eop <= i_eop && n != 32;
        if (i_eop && n != 32) begin
          o_dat[8*n+:32] <= ~next;
          o_ben          <= (i_ben << 4) | 32'h0000000f;
        end
        extra <= i_eop && n == 32;
        fcs   <= ~next;
        sum   <= i_eop ? 32'hffffffff : next;
      end
    end
  end
endmodule
