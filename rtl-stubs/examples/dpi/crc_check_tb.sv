// crc_check against a scoreboard of librnic_golden. FPDUs of 1 to 200 words, one in four with an octet changed on its way; their CRCs
// come from the model's crc_insert. With +plant the device judges an FPDU wrongly whose CRC field is alone in its last beat.
module crc_check_tb;
  import rnic_golden_pkg::*;
  import rnic_stream_pkg::*;
`include "rnic_board.svh"
  localparam int unsigned BeatBytes = 64, Fpdus = 300;

  logic clk_i = 1'b0, rst_ni = 1'b0;
  always #2 clk_i = !clk_i;
  longint unsigned cycle = 0;
  always @(posedge clk_i) cycle <= cycle + 1;

  logic                   in_valid, in_ready, out_ready, out_launch, out_valid;
  fpdu_beat_t             in, out, seen;
  logic [8*BeatBytes-1:0] in_data, out_data;
  crc_check #(.BeatBytes(BeatBytes)) dut (
    .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_i(in), .in_data_i(in_data), .out_ready_i(out_ready),
    .out_launch_o(out_launch), .out_valid_o(out_valid), .out_o(out), .out_data_o(out_data)
  );
  logic planted;
  always_comb begin
    seen = out;
    if (planted && out.last && out.words == 6'd1) seen.crc_ok = !out.crc_ok;
  end

  // The beats of all FPDUs.
  typedef struct packed {
    fpdu_beat_t             beat;
    logic [8*BeatBytes-1:0] data;
  } sent_t;
  sent_t sent[$];
  task automatic make_fpdu(input chandle seal, input int unsigned number, input int unsigned words);
    sent_t   next;
    octets_t octets;
    bit      spoilt;
    spoilt = $urandom % 4 == 0;
    for (int unsigned left = words; left != 0; left = left > 16 ? left - 16 : 0) begin
      next.beat        = '0;
      next.beat.flow   = 32'(number % 3);
      next.beat.words  = 6'(left > 16 ? 16 : left);
      next.beat.first  = left == words;
      next.beat.last   = left <= 16;
      next.beat.crc_on = number % 7 != 0;
      for (int unsigned i = 0; i < 16; i++) octets[32*i+:32] = $urandom;
      if (crc_insert_push_in(seal, next.beat, octets) != Ok) $fatal(1, "%s", rnic_stage_text(seal));
    end
    while (crc_insert_take_out(seal, next.beat, octets) == Ok) begin
      next.data = octets[8*BeatBytes-1:0];
      if (spoilt && next.beat.last) next.data[7:0] = next.data[7:0] ^ 8'h10;
      sent.push_back(next);
    end
  endtask

  // The input offers the next beat; the output's credit comes at random, and stays until it is used.
  int unsigned at = 0;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      in_valid  <= 1'b0;
      out_ready <= 1'b0;
    end else begin
      if (!in_valid || in_ready) begin
        in_valid <= at < sent.size();
        if (at < sent.size()) {in, in_data} <= sent[at];
        at <= at + 1;
      end
      out_ready <= (out_ready && !out_launch) || $urandom % 3 != 0;
    end
  end

  // What the board hears of: each beat that is taken or given.
  rnic_board board;
  always @(posedge clk_i) begin
    if (rst_ni && in_valid && in_ready) board.accepted(CrcCheckIn, bits_t'(in), octets_t'(in_data), cycle);
    if (rst_ni && out_valid) board.given(CrcCheckOut, bits_t'(seen), octets_t'(out_data), cycle);
  end

  chandle seal;
  initial begin
    planted = $test$plusargs("plant") != 0;
    board = new("crc_check", "{\"max_latency\": 1000}");
    if (rnic_stage_open(Abi, "crc_insert", "{}", seal) != Ok) $fatal(1, "%s", rnic_stage_text(seal));
    for (int unsigned i = 0; i < Fpdus; i++) make_fpdu(seal, i, 3 + $urandom % 198);
    rnic_stage_close(seal);
    repeat (2) @(negedge clk_i);
    rst_ni = 1'b1;
    while (at <= sent.size()) @(posedge clk_i);
    repeat (100) @(posedge clk_i);
    board.finish(cycle);
    $display("crc_check: %0d FPDUs, all right", Fpdus);
    $finish;
  end
endmodule
