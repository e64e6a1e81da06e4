// What somebody's block has no pins for, in the order in which it went in.
module carried_fields #(
  parameter int unsigned Width  = 32,
  parameter int unsigned Places = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             room_o,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  output logic [Width-1:0] oldest_o,
  input  logic             pop_i
);
  localparam int unsigned Bits = $clog2(Places);

  logic [Width-1:0] places_q [Places];
  logic [Bits:0]    pushed_q, popped_q;
  assign room_o   = pushed_q - popped_q != (Bits + 1)'(Places);
  assign valid_o  = pushed_q != popped_q;
  assign oldest_o = places_q[popped_q[Bits-1:0]];

  always_ff @(posedge clk_i) if (push_i) places_q[pushed_q[Bits-1:0]] <= data_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else begin
      pushed_q <= pushed_q + (Bits + 1)'(push_i);
      popped_q <= popped_q + (Bits + 1)'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Room_A      : assert (!push_i || room_o);
      Something_A : assert (!pop_i || valid_o);
    end
  end

  if (Places < 2 || Places != 2 ** Bits) begin : gen_check
    $error("carried_fields: Places must be a power of two");
  end
endmodule
