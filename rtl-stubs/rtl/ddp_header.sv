// Stores and decodes the headers of the incoming FPDU, up to the longest that a message has. The octets are kept beat by
// beat; those of the offered beat are available in the same cycle. Octets after the FPDU's end are ignored.
module ddp_header #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                valid_i,  // a beat is offered,
  input  logic                                take_i,   // and taken at this edge
  input  logic                                first_i,
  input  logic                                last_i,
  input  logic [8*BeatBytes-1:0]              data_i,
  output logic                                header_o,  // the DDP header is complete; until its FPDU is taken
  output rnic_ddp_pkg::ddp_segment_t          segment_o,
  output rnic_messages_pkg::failed_segment_t  failed_o,  // what a Terminate reports of this segment
  output rnic_messages_pkg::read_request_t    read_request_o,
  output rnic_messages_pkg::atomic_request_t  atomic_request_o,
  output rnic_messages_pkg::atomic_response_t atomic_response_o,
  output logic [63:0]                         immediate_o,
  output logic                                told_o,        // a Terminate's control word is complete;
  output rnic_messages_pkg::terminate_cause_t told_cause_o,  // its cause,
  output rnic_messages_pkg::failed_segment_t  told_failed_o  // and the segment of ours that it reports
);

  // An Atomic Request or a whole Terminate ends after 72 octets of the FPDU.
  localparam int unsigned HeadBytes = rnic_ddp_pkg::UlpduLengthBytes + rnic_ddp_pkg::UntaggedBytes +
                                      rnic_ddp_pkg::AtomicRequestBytes;
  localparam int unsigned Beats     = (HeadBytes + BeatBytes - 1) / BeatBytes;

  logic [8*BeatBytes*Beats-1:0] head_d, head_q;
  logic [31:0]                  beat_d, beat_q;  // index of the offered beat; Beats: after the head
  always_comb begin
    beat_d = valid_i && first_i ? '0 : beat_q;
    head_d = head_q;
    for (int unsigned i = 0; i < Beats; i++) begin
      if (valid_i && beat_d == i) head_d[8*BeatBytes*i+:8*BeatBytes] = data_i;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                                beat_q <= '0;
    else if (take_i && beat_d < 32'(Beats)) beat_q <= beat_d + 32'd1;
  end
  always_ff @(posedge clk_i) if (take_i) head_q <= head_d;

  // Big-endian fields.
  function logic [31:0] be32(input logic [31:0] octets);
    be32 = {octets[7:0], octets[15:8], octets[23:16], octets[31:24]};
  endfunction
  function logic [63:0] be64(input logic [63:0] octets);
    be64 = {be32(octets[31:0]), be32(octets[63:32])};
  endfunction

  localparam int unsigned Ulpdu   = 8 * rnic_ddp_pkg::UlpduLengthBytes;
  localparam int unsigned Payload = Ulpdu + 8 * rnic_ddp_pkg::UntaggedBytes;  // of an untagged segment

  logic [15:0] header_bytes;
  always_comb begin
    segment_o               = '0;
    segment_o.bytes         = {head_d[7:0], head_d[15:8]};
    segment_o.is_tagged        = segment_o.bytes != '0 && head_d[Ulpdu+7];
    header_bytes            = segment_o.is_tagged ? 16'(rnic_ddp_pkg::TaggedBytes) : 16'(rnic_ddp_pkg::UntaggedBytes);
    segment_o.whole         = segment_o.bytes >= header_bytes;
    segment_o.last          = head_d[Ulpdu+6];
    segment_o.ddp_version   = head_d[Ulpdu+:2];
    segment_o.rdmap_version = head_d[Ulpdu+14+:2];
    segment_o.opcode        = head_d[Ulpdu+8+:4];
    segment_o.stag          = be32(head_d[Ulpdu+16+:32]);
    segment_o.to            = be64(head_d[Ulpdu+48+:64]);
    segment_o.qn            = be32(head_d[Ulpdu+48+:32]);
    segment_o.msn           = be32(head_d[Ulpdu+80+:32]);
    segment_o.mo            = be32(head_d[Ulpdu+112+:32]);
    segment_o.payload       = segment_o.bytes - header_bytes;
  end

  logic complete, header_q;
  assign complete = last_i || (beat_d + 32'd1) * 32'(BeatBytes) >= 32'(rnic_ddp_pkg::UlpduLengthBytes) + 32'(header_bytes);
  assign header_o = header_q || (valid_i && complete);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) header_q <= 1'b0;
    else         header_q <= header_o && !(take_i && last_i);
  end

  assign immediate_o = be64(head_d[Payload+:64]);
  always_comb begin
    read_request_o.sink_stag = be32(head_d[Payload+:32]);
    read_request_o.sink_to   = be64(head_d[Payload+32+:64]);
    read_request_o.size      = be32(head_d[Payload+96+:32]);
    read_request_o.src_stag  = be32(head_d[Payload+128+:32]);
    read_request_o.src_to    = be64(head_d[Payload+160+:64]);

    atomic_request_o.operation    = be32(head_d[Payload+:32]);
    atomic_request_o.request_id   = be32(head_d[Payload+32+:32]);
    atomic_request_o.stag         = be32(head_d[Payload+64+:32]);
    atomic_request_o.to           = be64(head_d[Payload+96+:64]);
    atomic_request_o.data         = be64(head_d[Payload+160+:64]);
    atomic_request_o.data_mask    = be64(head_d[Payload+224+:64]);
    atomic_request_o.compare      = be64(head_d[Payload+288+:64]);
    atomic_request_o.compare_mask = be64(head_d[Payload+352+:64]);

    atomic_response_o.request_id = be32(head_d[Payload+:32]);
    atomic_response_o.original   = be64(head_d[Payload+32+:64]);
  end

  failed_segment u_failed (
    .octets_i (head_d[Ulpdu+:8*(rnic_ddp_pkg::UntaggedBytes+rnic_ddp_pkg::ReadRequestBytes)]),
    .bytes_i  (segment_o.bytes),
    .length_i (segment_o.whole ? segment_o.bytes : '0),
    .request_i(!segment_o.is_tagged && segment_o.opcode == rnic_messages_pkg::OpReadRequest),
    .failed_o
  );

  // A Terminate's payload (RFC 5040 section 4.8): cause, the bits M, D and R, and the fields that they announce. An
  // incomplete field is not reported.
  localparam int unsigned ControlBytes = 4, HeaderOffset = 6;
  logic        told_m, told_d, told_r;
  logic [15:0] told_bytes;
  always_comb begin
    told_o       = segment_o.payload >= 16'(ControlBytes);
    told_cause_o = {head_d[Payload+4+:4], head_d[Payload+:4], head_d[Payload+8+:8]};
    {told_m, told_d, told_r} = head_d[Payload+21+:3];
    told_d       = told_d && segment_o.payload >= 16'(HeaderOffset);
    told_bytes   = told_d ? segment_o.payload - 16'(HeaderOffset) : '0;
  end
  failed_segment u_told (
    .octets_i (head_d[Payload+8*HeaderOffset+:8*(rnic_ddp_pkg::UntaggedBytes+rnic_ddp_pkg::ReadRequestBytes)]),
    .bytes_i  (told_bytes),
    .length_i (told_d && told_m ? {head_d[Payload+32+:8], head_d[Payload+40+:8]} : '0),
    .request_i(told_r),
    .failed_o (told_failed_o)
  );
endmodule
