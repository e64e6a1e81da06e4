// The words of packets from an AXI-Stream of another width. Its user takes some of them at a time, and says when it has taken a
// packet's last one.
module axis_to_words #(
  parameter int unsigned InWords  = 16,
  parameter int unsigned OutWords = 17,  // the most that are taken at once
  parameter int unsigned UserBits = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   tvalid_i,
  output logic                   tready_o,
  input  logic [32*InWords-1:0]  tdata_i,
  input  logic [4*InWords-1:0]   tkeep_i,
  input  logic                   tlast_i,
  input  logic [UserBits-1:0]    tuser_i,
  output logic [32*OutWords-1:0] words_o,
  output logic [6:0]             pending_o,
  output logic                   complete_o,  // the packet's last word is among them
  output logic [UserBits-1:0]    user_o,      // of the beat taken last
  input  logic [6:0]             taken_i,
  input  logic                   ends_i       // the packet is taken: no words of it are left
);
  localparam int unsigned Room = InWords + OutWords;

  logic [32*Room-1:0]  words_d, words_q;
  logic [6:0]          pending_d, pending_q, stays;
  logic                complete_d, complete_q, take;
  logic [UserBits-1:0] user_q;
  assign words_o    = words_q[32*OutWords-1:0];
  assign pending_o  = pending_q;
  assign complete_o = complete_q;
  assign user_o     = user_q;
  assign stays      = ends_i ? '0 : pending_q - taken_i;
  assign tready_o   = (!complete_q || ends_i) && stays <= 7'(OutWords);
  assign take       = tvalid_i && tready_o;

  logic [7:0] octets;
  always_comb begin
    octets = '0;
    for (int unsigned i = 0; i < 4 * InWords; i++) octets += 8'(tkeep_i[i]);
  end
  always_comb begin
    words_d    = words_q >> {taken_i, 5'd0};
    pending_d  = stays;
    complete_d = complete_q && !ends_i;
    if (take) begin
      for (int unsigned i = 0; i < Room; i++) begin
        if (7'(i) >= stays && 7'(i) < stays + 7'(InWords)) words_d[32*i+:32] = tdata_i[32*(i-32'(stays))+:32];
      end
      pending_d  = stays + {1'b0, octets[7:2]};
      complete_d = tlast_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q  <= '0;
      complete_q <= 1'b0;
    end else begin
      pending_q  <= pending_d;
      complete_q <= complete_d;
    end
  end
  always_ff @(posedge clk_i) begin
    words_q <= words_d;
    if (take) user_q <= tuser_i;
  end

  // FPDUs are whole words, and a stream of them has no gaps.
  always_ff @(posedge clk_i) begin
    if (rst_ni && tvalid_i) begin
      KeepWithoutGaps_A : assert ((tkeep_i & (tkeep_i + 1'b1)) == '0) else $error("tkeep has gaps");
      WholeWords_A      : assert (octets[1:0] == '0) else $error("tkeep does not cover whole words of 4 octets");
    end
  end
endmodule
