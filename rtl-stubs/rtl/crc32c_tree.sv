// CRC32c over beats: a loop-free tree of exclusive-ors and, at its end, the register, which takes one step a cycle.
// Words are right-aligned: lane Lanes-1 has the beat's last counted word, and lanes before its first word are 0.
// crc_o belongs to the beat launched Cycles-1 cycles ago; a register after it completes the pipeline.
module crc32c_tree #(
  parameter int unsigned Lanes  = 16,
  parameter int unsigned Cycles = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                launch_i,
  input  logic                first_i,  // of its FPDU
  input  logic [5:0]          count_i,  // words that count, 0 to Lanes
  input  logic [32*Lanes-1:0] lanes_i,
  output logic [31:0]         crc_o     // the register after this beat, before the final inversion
);
  // Where the tree is cut. A deeper pipeline begins with plain registers.
  localparam int unsigned Front   = Cycles > 4 ? Cycles - 3 : Cycles > 3 ? 1 : 0;
  localparam int unsigned Middle  = Cycles > 2 ? 1 : 0;
  localparam int unsigned Back    = Cycles > 1 ? 1 : 0;
  localparam int unsigned Partial = (Lanes + 3) / 4;  // sums of four lanes each

  // Each lane's contribution to the register after all Lanes words.
  logic                launch_1, first_1;
  logic [5:0]          count_1;
  logic [32*Lanes-1:0] lanes_1;
  stream_pipe #(
    .Width (7 + 32 * Lanes),
    .Cycles(Front)
  ) u_front (
    .clk_i,
    .rst_ni,
    .launch_i,
    .data_i  ({first_i, count_i, lanes_i}),
    .valid_o (launch_1),
    .data_o  ({first_1, count_1, lanes_1})
  );

  logic [32*4*Partial-1:0] term;
  logic [32*Partial-1:0]   partial_d;
  for (genvar lane = 0; lane < 4 * Partial; lane++) begin : gen_term
    if (lane < Lanes) begin : gen_lane
      assign term[32*lane+:32] = rnic_crc32c_pkg::times(
        rnic_crc32c_pkg::After[1024*(Lanes-lane)+:1024], lanes_1[32*lane+:32]);
    end else begin : gen_none
      assign term[32*lane+:32] = '0;
    end
  end
  for (genvar i = 0; i < Partial; i++) begin : gen_partial
    assign partial_d[32*i+:32] = (term[128*i+:32] ^ term[128*i+32+:32]) ^ (term[128*i+64+:32] ^ term[128*i+96+:32]);
  end

  // The sum over the lanes.
  logic                  launch_2, first_2;
  logic [5:0]            count_2;
  logic [32*Partial-1:0] partial_q;
  stream_pipe #(
    .Width (7 + 32 * Partial),
    .Cycles(Middle)
  ) u_middle (
    .clk_i,
    .rst_ni,
    .launch_i(launch_1),
    .data_i  ({first_1, count_1, partial_d}),
    .valid_o (launch_2),
    .data_o  ({first_2, count_2, partial_q})
  );

  logic [31:0] sum_d;
  always_comb begin
    sum_d = '0;
    for (int unsigned i = 0; i < Partial; i++) sum_d = sum_d ^ partial_q[32*i+:32];
  end

  // The register, moved on by the beat's words and combined with the sum.
  logic        launch_3, first_3;
  logic [5:0]  count_3;
  logic [31:0] sum_q;
  stream_pipe #(
    .Width (7 + 32),
    .Cycles(Back)
  ) u_back (
    .clk_i,
    .rst_ni,
    .launch_i(launch_2),
    .data_i  ({first_2, count_2, sum_d}),
    .valid_o (launch_3),
    .data_o  ({first_3, count_3, sum_q})
  );

  logic [31:0] crc_q, start, moved;
  assign start = first_3 ? rnic_crc32c_pkg::Init : crc_q;
  always_comb begin
    moved = '0;
    for (int unsigned n = 0; n <= Lanes; n++) begin
      moved = moved | ({32{count_3 == 6'(n)}} & rnic_crc32c_pkg::times(rnic_crc32c_pkg::After[1024*n+:1024], start));
    end
  end
  assign crc_o = moved ^ sum_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       crc_q <= rnic_crc32c_pkg::Init;
    else if (launch_3) crc_q <= crc_o;
  end

  if (Cycles < 1 || Lanes > rnic_crc32c_pkg::MaxWords) begin : gen_check
    $error("crc32c_tree: Cycles must be at least 1, Lanes at most 33");
  end
endmodule
