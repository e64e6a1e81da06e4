// Whether a tagged segment may be placed, and where: RFC 5041 sections 5.2 and 7.1, in the order of choices.md 20.
// No registers.
module tagged_check (
  input  rnic_ddp_pkg::ddp_segment_t          segment_i,
  input  logic [31:0]                         qpn_i,
  input  rnic_messages_pkg::rx_context_t      qp_i,
  input  logic                                there_i,   // these are here, if there is payload:
  input  rnic_messages_pkg::stag_context_t    stag_i,    // the entry of the segment's STag
  input  rnic_messages_pkg::stag_context_t    region_i,  // of a window
  input  logic                                read_i,    // a Read is outstanding
  input  rnic_messages_pkg::read_issued_t     oldest_i,  // the oldest one
  input  logic [31:0]                         read_bytes_i,  // already placed for it
  output logic                                wait_o,    // for them
  output logic                                error_o,
  output rnic_messages_pkg::terminate_cause_t cause_o,
  output rnic_ddp_pkg::memory_piece_t         piece_o    // valid if there is payload
);

  // A Read Response must be the next part of the answer to the oldest outstanding Read (RFC 5040 section 5.2.2).
  logic        writes, responds, empty, other_sink, not_its_part;
  logic [31:0] payload, left;
  assign writes       = segment_i.opcode == rnic_messages_pkg::OpWrite;
  assign responds     = segment_i.opcode == rnic_messages_pkg::OpReadResponse;
  assign empty        = segment_i.payload == '0;
  assign payload      = {16'd0, segment_i.payload};
  assign left         = oldest_i.bytes - read_bytes_i;
  assign other_sink   = !empty && segment_i.stag != oldest_i.sink_stag;
  assign not_its_part = (!empty && segment_i.to != oldest_i.sink_to + 64'(read_bytes_i)) || payload > left ||
                        segment_i.last != (payload == left);

  logic        named, serves, contains;
  logic [63:0] base, from_base;
  stag_named u_named (
    .stag_i  (segment_i.stag),
    .entry_i (stag_i),
    .region_i,
    .qpn_i,
    .qp_i,
    .named_o (named),
    .serves_o(serves)
  );
  assign base      = stag_i.zero_based ? '0 : stag_i.address;
  assign from_base = segment_i.to - base;
  assign contains  = segment_i.to >= base && 64'(payload) <= stag_i.length && from_base <= stag_i.length - 64'(payload);

  logic [7:0] right;
  logic       wraps;
  assign right = responds ? rnic_messages_pkg::LocalWrite : rnic_messages_pkg::RemoteWrite;
  assign wraps = segment_i.to + 64'(payload) < segment_i.to;

  always_comb begin
    error_o = 1'b1;
    cause_o = '0;
    if (!segment_i.whole)                              cause_o = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (segment_i.ddp_version != qp_i.version)    cause_o = rnic_messages_pkg::DdpTaggedInvalidVersion;
    else if (segment_i.rdmap_version != qp_i.version)  cause_o = rnic_messages_pkg::RdmaInvalidVersion;
    else if (!writes && !responds)                     cause_o = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (responds && !read_i)                      cause_o = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (responds && other_sink)                   cause_o = rnic_messages_pkg::DdpInvalidStag;
    else if (responds && not_its_part)                 cause_o = rnic_messages_pkg::DdpBaseOrBounds;
    else if (empty)                                    error_o = 1'b0;
    else if (!there_i)                                 error_o = 1'b0;
    else if (!named)                                   cause_o = rnic_messages_pkg::DdpInvalidStag;
    else if (!serves)                                  cause_o = rnic_messages_pkg::DdpStagNotAssociated;
    else if ((stag_i.access & right) == '0)            cause_o = rnic_messages_pkg::DdpInvalidStag;  // choices.md 11
    else if (wraps)                                    cause_o = rnic_messages_pkg::DdpToWrap;
    else if (!contains)                                cause_o = rnic_messages_pkg::DdpBaseOrBounds;
    else                                               error_o = 1'b0;
  end

  assign wait_o = !error_o && !empty && !there_i;

  always_comb begin
    piece_o.address   = stag_i.bus + from_base;
    piece_o.bytes     = segment_i.payload;
    piece_o.page_list = rnic_ddp_pkg::list_of(stag_i.log_page, stag_i.first_page[19:0]);
  end
endmodule
