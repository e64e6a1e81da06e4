// marker_inserter against a predictor of librnic_golden: a call for each beat, and a comparison of what each FPDU became. With +plant
// the device hears of another start in the stream for FPDU 7, so its markers stand at wrong places.
module marker_inserter_tb;
  import rnic_golden_pkg::*;
  import rnic_stream_pkg::*;
  localparam int unsigned BeatBytes = 64, Fpdus = 300;

  logic clk_i = 1'b0, rst_ni = 1'b0;
  always #2 clk_i = !clk_i;

  logic                   in_valid, in_ready, out_ready, out_launch, out_valid, planted;
  fpdu_beat_t             in, heard, out;
  logic [8*BeatBytes-1:0] in_data, out_data;
  marker_inserter #(.BeatBytes(BeatBytes)) dut (
    .clk_i, .rst_ni, .in_valid_i(in_valid), .in_ready_o(in_ready), .in_i(heard), .in_data_i(in_data), .out_ready_i(out_ready),
    .out_launch_o(out_launch), .out_valid_o(out_valid), .out_o(out), .out_data_o(out_data)
  );
  int unsigned accepted = 0;  // FPDUs
  always_comb begin
    heard = in;
    if (planted && in.first && accepted == 7) heard.marker[8:2] = in.marker[8:2] + 7'd1;
  end

  // The beats of all FPDUs. Each starts where the one before it ends, with its markers, in the stream.
  typedef struct packed {
    fpdu_beat_t             beat;
    logic [8*BeatBytes-1:0] data;
  } sent_t;
  sent_t       sent[$];
  int unsigned position = 0;
  task automatic make_fpdu(input logic [15:0] ulpdu_bytes);
    sent_t       next;
    int unsigned words;
    words = (32'(ulpdu_bytes) + 5) / 4 + 1;  // length field, ULPDU, pad, CRC field (RFC 5044 section 4.1)
    for (int unsigned left = words; left != 0; left = left > 16 ? left - 16 : 0) begin
      next.beat       = '0;
      next.beat.marker_ok = 1'b1;
      next.beat.flow  = 32'd5;
      next.beat.words = 6'(left > 16 ? 16 : left);
      next.beat.first = left == words;
      next.beat.last  = left <= 16;
      for (int unsigned i = 0; i < 16; i++) next.data[32*i+:32] = $urandom;
      if (next.beat.first) begin
        next.beat.marker = {1'b1, 22'd0, position[8:0]};
        next.data[15:0]  = {ulpdu_bytes[7:0], ulpdu_bytes[15:8]};
      end
      sent.push_back(next);
    end
    for (int unsigned i = 0; i < words; i++) position += position % 512 == 0 ? 8 : 4;
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

  // The predictor gets what the device takes. What it says of an FPDU is compared with what the device has given.
  chandle      model;
  sent_t       given[$];
  int unsigned compared = 0;  // FPDUs
  task automatic check(input int result);
    if (result < 0) $fatal(1, "%s: %s", rnic_status_name(result), rnic_stage_text(model));
  endtask
  always @(posedge clk_i) begin
    if (rst_ni && in_valid && in_ready) begin
      check(marker_inserter_push_in(model, in, octets_t'(in_data)));
      accepted <= accepted + 32'(in.last);
    end
    if (rst_ni && out_valid) begin
      given.push_back({out, out_data});
      if (out.last) compare();
    end
  end
  task automatic compare;
    sent_t      one;
    fpdu_beat_t expected;
    octets_t    octets, mask;
    for (int unsigned beat = 0; given.size() != 0; beat++) begin
      one = given.pop_front();
      if (marker_inserter_take_out(model, expected, octets) != Ok) $fatal(1, "FPDU %0d: a beat too many", compared);
      mask = ~({1024{1'b1}} << (32 * 32'(expected.words)));
      if (one.beat !== expected) $fatal(1, "FPDU %0d, beat %0d: expected %p, seen %p", compared, beat, expected, one.beat);
      for (int unsigned i = 0; i < BeatBytes; i++) begin
        if (mask[8*i] && one.data[8*i+:8] !== octets[8*i+:8])
          $fatal(1, "marker_inserter: FPDU %0d, beat %0d, octet %0d: expected %h, seen %h", compared, beat, i, octets[8*i+:8], one.data[8*i+:8]);
      end
    end
    compared++;
  endtask

  initial begin
    planted = $test$plusargs("plant") != 0;
    check(rnic_stage_open(Abi, "marker_inserter", "{}", model));
    for (int unsigned i = 0; i < Fpdus; i++) make_fpdu(i == 7 ? 16'd1400 : 16'(1 + $urandom % 1460));  // 7 has markers
    repeat (2) @(negedge clk_i);
    rst_ni = 1'b1;
    while (at <= sent.size()) @(posedge clk_i);
    repeat (100) @(posedge clk_i);
    if (compared != Fpdus) $fatal(1, "%0d FPDUs of %0d came out", compared, Fpdus);
    rnic_stage_close(model);
    $display("marker_inserter: %0d FPDUs, all right", Fpdus);
    $finish;
  end
endmodule
