// The queue pair's row that the segment at one input needs: the twin of SegmentQp. It is asked for when the segment's header is
// here, and stays until the segment is judged.
module segment_qp (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        header_i,    // the header of the segment is here, and it is not judged
  input  logic [31:0] beat_qpn_i,  // that the offered beat is for
  input  logic        done_i,      // it is judged at this edge
  output logic [31:0] qpn_o,       // the segment's
  input  logic        row_ready_i,
  output logic        row_ask_o,
  output logic        row_drop_o
);
  logic        begun_q, begins, asks_q;
  logic [31:0] qpn_q;
  assign begins     = header_i && !begun_q;
  assign qpn_o      = begins ? beat_qpn_i : qpn_q;
  assign row_ask_o  = (begins || asks_q) && row_ready_i;
  assign row_drop_o = done_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= 1'b0;
      asks_q  <= 1'b0;
    end else begin
      begun_q <= header_i && !done_i;
      asks_q  <= (begins || asks_q) && !row_ask_o;
    end
  end
  always_ff @(posedge clk_i) qpn_q <= qpn_o;
endmodule
