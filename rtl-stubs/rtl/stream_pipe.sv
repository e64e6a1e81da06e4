// A pipeline that never stalls: what is launched leaves Cycles later. Its user launches only with a credit, that is,
// with a free place at the far end.
module stream_pipe #(
  parameter int unsigned Width  = 32,
  parameter int unsigned Cycles = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             launch_i,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  output logic [Width-1:0] data_o
);
  if (Cycles < 1) begin : gen_check
    $fatal(1, "stream_pipe: Cycles must be at least 1");
  end

  logic [Cycles-1:0]            valid_q;
  logic [Cycles-1:0][Width-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= Cycles'({valid_q, launch_i});
  end

  always_ff @(posedge clk_i) begin
    data_q[0] <= data_i;
    for (int unsigned i = 1; i < Cycles; i++) data_q[i] <= data_q[i-1];
  end

  assign valid_o = valid_q[Cycles-1];
  assign data_o  = data_q[Cycles-1];
endmodule
