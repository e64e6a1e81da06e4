// The FPDUs of one lower layer, which come in beat by beat: their place in the buffer, and their decoded headers.
module fpdu_input #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                valid_i,   // a beat is offered,
  input  logic                                take_i,    // and taken at this edge
  input  rnic_stream_pkg::fpdu_beat_t         beat_i,
  input  logic [8*BeatBytes-1:0]              data_i,
  input  logic [31:0]                         offset_i,  // of the beat in its buffer,
  output logic [31:0]                         at_o,      // and of the FPDU
  output logic                                header_o,  // the DDP header is complete
  output rnic_ddp_pkg::ddp_segment_t          segment_o,
  output rnic_messages_pkg::failed_segment_t  failed_o,
  output rnic_messages_pkg::read_request_t    read_request_o,
  output rnic_messages_pkg::atomic_request_t  atomic_request_o,
  output rnic_messages_pkg::atomic_response_t atomic_response_o,
  output logic [63:0]                         immediate_o,
  output logic                                told_o,
  output rnic_messages_pkg::terminate_cause_t told_cause_o,
  output rnic_messages_pkg::failed_segment_t  told_failed_o
);

  ddp_header #(.BeatBytes(BeatBytes)) u_header (
    .clk_i, .rst_ni,
    .valid_i,
    .take_i,
    .first_i(beat_i.first),
    .last_i (beat_i.last),
    .data_i,
    .header_o, .segment_o, .failed_o, .read_request_o, .atomic_request_o, .atomic_response_o, .immediate_o,
    .told_o, .told_cause_o, .told_failed_o
  );

  logic [31:0] at_q;
  assign at_o = beat_i.first ? offset_i : at_q;
  always_ff @(posedge clk_i) if (take_i) at_q <= at_o;

  // FPDUs of one layer are not interleaved.
  logic open_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
    end else if (take_i) begin
      open_q <= !beat_i.last;
      NotInterleaved_A : assert (beat_i.first == !open_q);
      PlacedIsTagged_A : assert (!beat_i.placed || (beat_i.first && beat_i.last && segment_o.is_tagged));
    end
  end
endmodule
