// TLPs of a run (+tlps=FILE) before tlp_checker, with the payload as zeros. A line of the file has the direction (1: to the device, 2:
// from it), the number of double words, and the first 16 octets.
module tlps_bench;
  localparam int unsigned DataBytes = 16;

  logic clk_i = 1'b0, rst_ni = 1'b0;
  always #2 clk_i = !clk_i;

  logic         out_valid = 1'b0, in_valid = 1'b0, last = 1'b0;
  logic [127:0] data;
  logic [15:0]  keep;
  tlp_checker #(.DataBytes(DataBytes), .MaxPayload(512), .MaxReadRequest(4096)) u_tlp (
    .clk_i, .rst_ni,
    .out_tvalid_i(out_valid), .out_tready_i(1'b1), .out_tdata_i(data), .out_tkeep_i(keep), .out_tlast_i(last),
    .in_tvalid_i(in_valid), .in_tready_i(1'b1), .in_tdata_i(data), .in_tkeep_i(keep), .in_tlast_i(last)
  );

  task automatic send(input int direction, input int words);
    for (int left = words; left > 0; left -= 4) begin
      out_valid = direction == 2;
      in_valid  = direction == 1;
      last      = left <= 4;
      keep      = left < 4 ? 16'((1 << (4 * left)) - 1) : '1;
      @(posedge clk_i);
      #1;
      data = '0;
    end
    out_valid = 1'b0;
    in_valid  = 1'b0;
  endtask

  string        name;
  int           file, direction, words, count;
  logic [127:0] header;
  initial begin
    if (!$value$plusargs("tlps=%s", name)) $fatal(1, "no +tlps");
    file = $fopen(name, "r");
    repeat (2) @(posedge clk_i);
    #1 rst_ni = 1'b1;
    repeat (2) @(posedge clk_i);
    #1;
    while ($fscanf(file, "%d %d %h\n", direction, words, header) == 3) begin
      data = {<<8{header}};
      send(direction, words);
      count++;
    end
    $display("%0d TLPs", count);
    $finish;
  end
endmodule
