// Whether a peer's STag is valid, and whether its stream may use it: ContextStore::named, StagContext::serves.
// No registers.
module stag_named (
  input  logic [31:0]                      stag_i,
  input  rnic_messages_pkg::stag_context_t entry_i,   // the entry at the STag's index
  input  rnic_messages_pkg::stag_context_t region_i,  // the entry at the index of entry_i.region
  input  logic [31:0]                      qpn_i,
  input  rnic_messages_pkg::rx_context_t   qp_i,
  output logic                             named_o,   // a window is only as valid as its region
  output logic                             serves_o   // by protection domain or by queue pair (RFC 5042 section 5.2.1)
);

  logic own, region;
  assign own      = entry_i.valid && entry_i.key == stag_i[7:0];
  assign region   = region_i.valid && region_i.key == entry_i.region[7:0];
  assign named_o  = own && (entry_i.kind == rnic_messages_pkg::StagRegion || region);
  assign serves_o = entry_i.kind == rnic_messages_pkg::StagWindow2 ? entry_i.qpn == qpn_i && entry_i.qp_epoch == qp_i.epoch
                                                : entry_i.pd == qp_i.pd;
endmodule
