// A FIFO of Depth places. Several may push in one cycle, in the order of their numbers. A pop sees the entries that are
// stored, and those that the first `Through` of them push in this cycle. The user must not overflow it.
module ring #(
  parameter int unsigned Width   = 8,
  parameter int unsigned Depth   = 4,
  parameter int unsigned Pushes  = 1,
  parameter int unsigned Through = 0,
  parameter bit          Filled  = 1'b0  // holds 0 to Depth - 1 after reset, instead of being empty
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [Pushes-1:0]       push_i,
  input  logic [Pushes*Width-1:0] data_i,
  input  logic                    pop_i,
  output logic                    valid_o,
  output logic [Width-1:0]        front_o
);
  localparam int unsigned CountWidth = $clog2(Depth + 1);
  localparam int unsigned IndexWidth = Depth > 1 ? $clog2(Depth) : 1;
  localparam logic [Pushes-1:0] Seen = Pushes'((1 << Through) - 1);

  function logic [Depth*Width-1:0] numbered(input logic filled);
    numbered = '0;
    for (int unsigned i = 0; i < Depth; i++) numbered[Width*i+:Width] = filled ? Width'(i) : '0;
  endfunction

  logic [Depth*Width-1:0] slots_d, slots_q;
  logic [IndexWidth-1:0]  head_d, head_q;
  logic [CountWidth-1:0]  count_d, count_q;

  // The place after the last entry, with room for the carry.
  logic [CountWidth:0] tail;
  always_comb begin
    slots_d = slots_q;
    count_d = count_q;
    valid_o = count_q != 0;
    front_o = slots_q[Width*32'(head_q)+:Width];
    for (int unsigned i = 0; i < Pushes; i++) begin
      tail = (CountWidth+1)'(head_q) + (CountWidth+1)'(count_d);
      if (tail >= (CountWidth+1)'(Depth)) tail = tail - (CountWidth+1)'(Depth);
      if (push_i[i]) begin
        slots_d[Width*32'(tail)+:Width] = data_i[Width*i+:Width];
        count_d = count_d + 1'b1;
        if (Seen[i] && !valid_o) begin
          valid_o = 1'b1;
          front_o = data_i[Width*i+:Width];
        end
      end
    end
    head_d = head_q;
    if (pop_i) begin
      head_d  = head_q == IndexWidth'(Depth - 1) ? '0 : head_q + 1'b1;
      count_d = count_d - 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slots_q <= numbered(Filled);
      head_q  <= '0;
      count_q <= Filled ? CountWidth'(Depth) : '0;
    end else begin
      slots_q <= slots_d;
      head_q  <= head_d;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      PopOfSomething_A : assert (!pop_i || valid_o);
      NoMoreThanDepth_A: assert (32'(count_q) + $countones(push_i) <= Depth + 32'(pop_i));
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      Wraps_C      : cover (push_i != '0 && 32'(head_q) + 32'(count_q) >= Depth);
      SeenAtOnce_C : cover ((push_i & Seen) != '0 && count_q == '0);
    end
  end
endmodule
