// What a Terminate reports of a segment: length, DDP header, and the header of a Read Request after it, octet by octet as
// received. The twin of model/rnic/messages/failed_segment.h. No registers.
module failed_segment (
  input  logic [8*46-1:0]                    octets_i,   // beginning with the DDP header
  input  logic [15:0]                        bytes_i,    // valid ones; later octets mean nothing
  input  logic [15:0]                        length_i,
  input  logic                               request_i,  // a Read Request's header is to be reported too
  output rnic_messages_pkg::failed_segment_t failed_o
);

  logic [15:0] ddp_bytes;
  logic        ddp, request;
  always_comb begin
    ddp_bytes = octets_i[7] ? 16'(rnic_ddp_pkg::TaggedBytes) : 16'(rnic_ddp_pkg::UntaggedBytes);
    ddp       = bytes_i >= ddp_bytes;
    request   = ddp && request_i && bytes_i - ddp_bytes >= 16'(rnic_ddp_pkg::ReadRequestBytes);

    failed_o               = '0;
    failed_o.length        = length_i;
    failed_o.ddp_bytes     = ddp ? ddp_bytes[4:0] : '0;
    failed_o.request_bytes = request ? 5'(rnic_ddp_pkg::ReadRequestBytes) : '0;
    for (int unsigned i = 0; i < rnic_ddp_pkg::UntaggedBytes + rnic_ddp_pkg::ReadRequestBytes; i++) begin
      if (i < 32'(failed_o.ddp_bytes) + 32'(failed_o.request_bytes)) failed_o.octets[8*i+:8] = octets_i[8*i+:8];
    end
  end
endmodule
