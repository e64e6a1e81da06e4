// A pipeline that never stalls: what is launched leaves Cycles later, in the same cycle for 0. Its user launches only
// with a credit, that is, with a free place at the far end.
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
  if (Cycles == 0) begin : gen_wire
    assign valid_o = launch_i;
    assign data_o  = data_i;
  end else begin : gen_registers
    logic [Cycles-1:0]       valid_q;
    logic [Cycles*Width-1:0] data_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else         valid_q <= Cycles'({valid_q, launch_i});
    end

    always_ff @(posedge clk_i) data_q <= (Cycles*Width)'({data_q, data_i});

    assign valid_o = valid_q[Cycles-1];
    assign data_o  = data_q[Width*(Cycles-1)+:Width];
  end
endmodule
