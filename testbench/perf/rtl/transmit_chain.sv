// mpa_framer, marker_inserter and crc_insert with the links between them, for one flow: the chain that rtl_chain measures.
module transmit_chain #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  rnic_stream_pkg::ulpdu_t     in_i,
  output logic [15:0]                 mem_index_o,
  input  logic [8*BeatBytes-1:0]      mem_data_i,
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output rnic_stream_pkg::fpdu_beat_t out_o,
  output logic [8*BeatBytes-1:0]      out_data_o
);
  logic                        framed_ready, framed_launch, framed_valid;
  rnic_stream_pkg::fpdu_beat_t framed;
  logic [8*BeatBytes-1:0]      framed_data;
  mpa_framer u_mpa_framer (
    .clk_i, .rst_ni,
    .in_valid_i, .in_ready_o, .in_i, .mem_index_o, .mem_data_i,
    .out_ready_i(framed_ready), .out_launch_o(framed_launch), .out_valid_o(framed_valid), .out_o(framed),
    .out_data_o(framed_data));

  logic                        due_valid, due_ready;
  rnic_stream_pkg::fpdu_beat_t due;
  logic [8*BeatBytes-1:0]      due_data;
  link #(
    .Width($bits(framed) + 8 * BeatBytes), .Depth(3), .Latency(0)
  ) u_framed (
    .clk_i, .rst_ni,
    .in_ready_o(framed_ready), .in_launch_i(framed_launch), .in_valid_i(framed_valid), .in_i({framed, framed_data}),
    .out_valid_o(due_valid), .out_o({due, due_data}), .out_ready_i(due_ready));

  logic                        marked_ready, marked_launch, marked_valid;
  rnic_stream_pkg::fpdu_beat_t marked;
  logic [8*BeatBytes-1:0]      marked_data;
  marker_inserter u_marker_inserter (
    .clk_i, .rst_ni,
    .in_valid_i(due_valid), .in_ready_o(due_ready), .in_i(due), .in_data_i(due_data),
    .out_ready_i(marked_ready), .out_launch_o(marked_launch), .out_valid_o(marked_valid), .out_o(marked),
    .out_data_o(marked_data));
  logic                        to_seal_valid, to_seal_ready;
  rnic_stream_pkg::fpdu_beat_t to_seal;
  logic [8*BeatBytes-1:0]      to_seal_data;
  link #(
    .Width($bits(marked) + 8 * BeatBytes), .Depth(3), .Latency(0)
  ) u_marked (
    .clk_i, .rst_ni,
    .in_ready_o(marked_ready), .in_launch_i(marked_launch), .in_valid_i(marked_valid), .in_i({marked, marked_data}),
    .out_valid_o(to_seal_valid), .out_o({to_seal, to_seal_data}), .out_ready_i(to_seal_ready));

  logic                        sealed_ready, sealed_launch, sealed_valid;
  rnic_stream_pkg::fpdu_beat_t sealed;
  logic [8*BeatBytes-1:0]      sealed_data;
  crc_insert u_crc_insert (
    .clk_i, .rst_ni,
    .in_valid_i(to_seal_valid), .in_ready_o(to_seal_ready), .in_i(to_seal), .in_data_i(to_seal_data),
    .out_ready_i(sealed_ready), .out_launch_o(sealed_launch), .out_valid_o(sealed_valid), .out_o(sealed),
    .out_data_o(sealed_data));
  link #(
    .Width($bits(sealed) + 8 * BeatBytes), .Depth(6), .Latency(0)
  ) u_sealed (
    .clk_i, .rst_ni,
    .in_ready_o(sealed_ready), .in_launch_i(sealed_launch), .in_valid_i(sealed_valid), .in_i({sealed, sealed_data}),
    .out_valid_o, .out_o({out_o, out_data_o}), .out_ready_i);
endmodule
