// The pins of crc_check; beats leave a cycle later, unchecked. It asserts that no FPDU has more than one beat.
module loud_check #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t in_i,
  input  logic [8*BeatBytes-1:0]      in_data_i,
  input  logic                        out_ready_i,
  output logic                        out_launch_o,
  output logic                        out_valid_o,
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  assign in_ready_o   = out_ready_i;
  assign out_launch_o = in_valid_i && out_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_valid_o <= 1'b0;
    else         out_valid_o <= out_launch_o;
  end
  always_ff @(posedge clk_i) begin
    out_o        <= in_i;
    out_o.crc_ok <= 1'b1;
    out_data_o   <= in_data_i;
    OneBeat_A : assert (!rst_ni || !out_launch_o || in_i.last);
  end
endmodule
