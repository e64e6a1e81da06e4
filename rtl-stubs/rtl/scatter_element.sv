// The part of a message's octets [from, to) that goes to one element of its scatter list. No registers.
module scatter_element (
  input  logic [8*16-1:0]                  sge_i,
  input  rnic_messages_pkg::stag_context_t stag_i,   // the entry at the index of its key
  input  logic [31:0]                      pd_i,
  input  logic [34:0]                      start_i,  // of the element, in the message
  input  logic [34:0]                      from_i,
  input  logic [34:0]                      to_i,
  output rnic_ddp_pkg::memory_piece_t      piece_o,  // where they go,
  output logic                             bad_o     // and may not be written
);
  rnic_messages_pkg::sge_t sge;
  logic [34:0]             end_of_element, first, behind, skip;
  logic [63:0]             length, base, from_base;
  assign sge = sge_i;
  always_comb begin
    end_of_element = start_i + 35'(sge.length);
    first          = from_i > start_i ? from_i : start_i;
    behind         = to_i < end_of_element ? to_i : end_of_element;

    // A local key names a region, which must contain the whole element (StagContext::covers).
    length    = 64'(sge.length);
    base      = stag_i.zero_based ? '0 : stag_i.address;
    from_base = sge.address - base;
    bad_o     = !stag_i.valid || stag_i.key != sge.lkey[7:0] || stag_i.kind != rnic_messages_pkg::StagRegion ||
                stag_i.pd != pd_i || (stag_i.access & rnic_messages_pkg::LocalWrite) == '0 || sge.address < base ||
                length > stag_i.length || from_base > stag_i.length - length;

    skip            = first - start_i;
    piece_o.address   = stag_i.bus + from_base + 64'(skip);
    piece_o.bytes     = 16'(behind - first);
    piece_o.page_list = rnic_ddp_pkg::list_of(stag_i.log_page, stag_i.first_page[19:0]);
  end
endmodule
