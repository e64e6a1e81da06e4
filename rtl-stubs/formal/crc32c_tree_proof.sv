// One beat of the CRC's tree equals the bit-serial definition (RFC 3720 section 12.1; a shift register in RFC 3385 section
// 2.1), for every register, number of words and content. Lanes before the first word are 0, as the tree's users drive them.
module crc32c_tree_proof #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i,
  input  logic                first,
  input  logic [5:0]          count,
  input  logic [31:0]         register,  // the value of u_tree.crc_q
  input  logic [32*Lanes-1:0] lanes,
  output logic [31:0]         crc_tree,
  output logic [31:0]         crc_serial
);
  logic [32*Lanes-1:0] words;
  crc32c_tree #(
    .Lanes (Lanes),
    .Cycles(1)
  ) u_tree (
    .clk_i,
    .rst_ni  (1'b1),
    .launch_i(1'b1),
    .first_i (first),
    .count_i (count),
    .lanes_i (words),
    .crc_o   (crc_tree)
  );

  function automatic logic [31:0] shifted(input logic [31:0] crc, input logic [31:0] word);
    shifted = crc;
    for (int i = 0; i < 32; i++) shifted = (shifted >> 1) ^ (shifted[0] ^ word[i] ? 32'h82f6_3b78 : 32'd0);
  endfunction
  always_comb begin
    words      = '0;
    crc_serial = first ? 32'hffff_ffff : register;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (lane + 32'(count) >= Lanes) begin
        words[32*lane+:32] = lanes[32*lane+:32];
        crc_serial = shifted(crc_serial, lanes[32*lane+:32]);
      end
    end
  end
endmodule
