// Words of packets as an AXI-Stream of another width: full beats, and a last one with the rest, down to octets. As AXI-Stream wants it, what is
// valid does not wait for ready and stays until it is taken.
module words_to_axis #(
  parameter int unsigned InWords  = 17,    // the most that come at once
  parameter int unsigned OutWords = 16,
  parameter bit          MayEnd   = 1'b0,  // the last words of a packet may be none
  parameter bit          MayLack  = 1'b0,  // a packet may have no octets at all
  parameter int unsigned UserBits = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic [32*InWords-1:0]  words_i,
  input  logic [6:0]             count_i,
  input  logic                   last_i,
  input  logic [1:0]             lacks_i,  // octets that the last word of the packet does not have
  input  logic [UserBits-1:0]    user_i,
  output logic                   tvalid_o,
  input  logic                   tready_i,
  output logic [32*OutWords-1:0] tdata_o,
  output logic [4*OutWords-1:0]  tkeep_o,
  output logic                   tlast_o,
  output logic                   first_o,  // of the packet
  output logic [UserBits-1:0]    user_o    // of the words taken last
);
  localparam int unsigned Room = InWords + OutWords;

  // The next word out is words_q[0]. A full beat waits for more words if those may be none: it may be the last one.
  logic [32*Room-1:0]  words_d, words_q;
  logic [6:0]          pending_d, pending_q;
  logic                complete_d, complete_q, first_d, first_q;
  logic [UserBits-1:0] user_q;
  logic [1:0]          lacks_q;
  logic                full, give;
  logic [6:0]          left;
  assign full     = pending_q >= 7'(OutWords);
  assign tvalid_o = complete_q || pending_q > 7'(OutWords) || (full && !MayEnd);
  assign left     = full ? pending_q - 7'(OutWords) : '0;
  assign give     = tvalid_o && tready_i;
  assign tdata_o  = words_q[32*OutWords-1:0];
  assign tlast_o  = complete_q && left == '0;
  assign first_o  = first_q;
  assign user_o   = user_q;
  always_comb begin
    for (int unsigned i = 0; i < OutWords; i++) begin
      tkeep_o[4*i+:4] = {4{7'(i) < pending_q}};
      if (tlast_o && 7'(i) + 7'd1 == pending_q) tkeep_o[4*i+:4] = 4'hf >> lacks_q;
    end
  end

  // Words come after those that stay, and not before a whole packet has left. Nothing is taken while a full beat waits, so what
  // user_o says belongs to that beat.
  logic [6:0]         stays;
  logic               whole, take;
  logic [32*Room-1:0] kept;
  assign stays      = give ? left : pending_q;
  assign whole      = complete_q && !(give && tlast_o);
  assign kept       = give ? words_q >> (32 * OutWords) : words_q;
  assign in_ready_o = !whole && (stays < 7'(OutWords) || (MayEnd && stays == 7'(OutWords)));
  assign take       = in_valid_i && in_ready_o;
  always_comb begin
    words_d    = kept;
    pending_d  = stays;
    complete_d = whole;
    first_d    = give ? tlast_o : first_q;
    if (take) begin
      for (int unsigned i = 0; i < Room; i++) begin
        if (7'(i) >= stays && 7'(i) < stays + count_i) words_d[32*i+:32] = words_i[32*(i-32'(stays))+:32];
      end
      pending_d  = stays + count_i;
      complete_d = last_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q  <= '0;
      complete_q <= 1'b0;
      first_q    <= 1'b1;
    end else begin
      pending_q  <= pending_d;
      complete_q <= complete_d;
      first_q    <= first_d;
    end
  end
  always_ff @(posedge clk_i) begin
    words_q <= words_d;
    if (take) {user_q, lacks_q} <= {user_i, lacks_i};
  end

  logic                waits_q;
  logic [UserBits-1:0] was_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waits_q <= 1'b0;
    else         waits_q <= tvalid_o && !tready_i && !MayEnd;
  end
  always_ff @(posedge clk_i) begin
    was_q <= user_q;
    if (rst_ni) UserStays_A : assert (!waits_q || user_q == was_q);
    if (rst_ni && take) begin
      CountInRange_A : assert (count_i <= 7'(InWords));
      NotEmpty_A     : assert (MayLack || pending_d != '0);
    end
  end
endmodule
