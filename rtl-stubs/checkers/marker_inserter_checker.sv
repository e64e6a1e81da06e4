// The pins of marker_inserter: FPDUs come with their start in the stream, and leave with markers among their words.
module marker_inserter_checker #(
  parameter int unsigned BeatBytes      = 64,
  parameter int unsigned PipelineCycles = 1,
  parameter bit          Elastic        = 1'b0
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        in_valid_i,
  input logic                        in_ready_o,
  input rnic_stream_pkg::fpdu_beat_t in_i,
  input logic [8*BeatBytes-1:0]      in_data_i,
  input logic                        out_ready_i,
  input logic                        out_launch_o,
  input logic                        out_valid_o,
  input rnic_stream_pkg::fpdu_beat_t out_o,
  input logic [8*BeatBytes-1:0]      out_data_o
);
  logic [8*BeatBytes-1:0] octets;  // what counts of the data
  assign octets = in_data_i & ~({8 * BeatBytes{1'b1}} << {in_i.words, 5'd0});
  offer_checker #(.Width($bits(in_i) + 8 * BeatBytes)) u_in (
    .clk_i, .rst_ni, .valid_i(in_valid_i), .ready_i(in_ready_o), .message_i({in_i, octets})
  );
  credit_checker #(.Cycles(PipelineCycles), .Elastic(Elastic)) u_out (
    .clk_i, .rst_ni, .quiet_i(!in_valid_i), .ready_i(out_ready_i), .launch_i(out_launch_o), .valid_i(out_valid_o)
  );
  logic take;
  assign take = in_valid_i && in_ready_o;
  fpdu_checker #(.BeatBytes(BeatBytes), .Starts(1'b1)) u_in_fpdus (
    .clk_i, .rst_ni, .take_i(take), .beat_i(in_i), .octets_i(in_data_i[15:0])
  );
  fpdu_checker #(.BeatBytes(BeatBytes)) u_out_fpdus (
    .clk_i, .rst_ni, .take_i(out_valid_o), .beat_i(out_o), .octets_i(out_data_o[15:0])
  );
  through_checker u_through (
    .clk_i, .rst_ni, .in_i(take && in_i.last), .out_i(out_valid_o && out_o.last)
  );

  // Of the stream, the place of the next word that leaves: the markers, which have 0 in their first half, stand at the multiples of
  // their distance (RFC 5044 section 4.3).
  logic        marked_q, marked;
  logic [8:0]  at_q, at;
  logic [6:0]  lane;  // where the next one stands
  logic [15:0] half;
  assign lane = 7'((rnic_stream_pkg::MarkerInterval / 4) - 32'(at[8:2]));
  assign half = 16'(out_data_o >> {lane, 5'd0});
  always_ff @(posedge clk_i) begin
    if (out_valid_o) begin
      at_q     <= at + {1'b0, out_o.words, 2'd0};
      marked_q <= marked;
    end
  end
  // FPDUs leave in the order in which they came, and few are inside.
  localparam int unsigned PlaceBits = Elastic ? 8 : $clog2(PipelineCycles + 4);
  logic [9:0]           starts_q [2**PlaceBits];
  logic [PlaceBits-1:0] newest_q, oldest_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      newest_q <= '0;
      oldest_q <= '0;
    end else begin
      newest_q <= newest_q + PlaceBits'(take && in_i.first);
      oldest_q <= oldest_q + PlaceBits'(out_valid_o && out_o.last);
    end
  end
  always_ff @(posedge clk_i) begin
    if (take && in_i.first) starts_q[newest_q] <= {in_i.marker[31], in_i.marker[8:0]};
  end
  assign {marked, at} = out_o.first ? starts_q[oldest_q] : {marked_q, at_q};

  MarkerIsAtItsPlace_A : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o && marked && lane < 7'(out_o.words) |-> half == '0);
  StartIsTakenOut_A    : assert property (@(posedge clk_i) disable iff (!rst_ni) out_valid_o |-> out_o.marker == '0);
endmodule
