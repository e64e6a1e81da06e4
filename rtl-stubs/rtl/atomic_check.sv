// Whether an Atomic Request may be executed, or why not: the checks of model/rnic/responder/atomic_alu in their order
// (RFC 7306 section 5.1, RFC 5042 section 5.2.1). Combinational.
module atomic_check (
  input  logic [31:0]                         qpn_i,
  input  logic [3:0]                          opcode_i,
  input  logic [63:0]                         to_i,
  input  logic [31:0]                         epoch_i,
  input  logic [31:0]                         pd_i,
  input  rnic_messages_pkg::stag_context_t    stag_i,      // the entry at the index of the request's STag
  input  logic                                named_i,     // the STag is valid
  input  logic                                contains_i,  // the STag's octets include the target
  input  logic [2:0]                          address_i,   // the target's bus address, low bits
  output logic                                refused_o,
  output rnic_messages_pkg::terminate_cause_t cause_o
);
  localparam logic [7:0] Rights =
      rnic_messages_pkg::RemoteRead | rnic_messages_pkg::RemoteWrite | rnic_messages_pkg::RemoteAtomic;
  localparam logic [63:0] LastTo = ~64'd8;  // the eight octets after it end below 2^64

  // By queue pair or by protection domain.
  logic serves;
  assign serves = stag_i.kind == rnic_messages_pkg::StagWindow2
                      ? stag_i.qpn == qpn_i && stag_i.qp_epoch == epoch_i
                      : stag_i.pd == pd_i;

  always_comb begin
    refused_o = 1'b1;
    if (opcode_i != rnic_messages_pkg::AtomicFetchAdd && opcode_i != rnic_messages_pkg::AtomicCmpSwap) begin
      cause_o = rnic_messages_pkg::RdmaUnexpectedOpcode;
    end else if (!named_i) begin
      cause_o = rnic_messages_pkg::RdmaInvalidStag;
    end else if (!serves) begin
      cause_o = rnic_messages_pkg::RdmaStagNotAssociated;
    end else if ((stag_i.access & Rights) != Rights) begin
      cause_o = rnic_messages_pkg::RdmaAccessRights;
    end else if (to_i > LastTo) begin
      cause_o = rnic_messages_pkg::RdmaToWrap;
    end else if (!contains_i) begin
      cause_o = rnic_messages_pkg::RdmaBaseOrBounds;
    end else begin
      cause_o   = rnic_messages_pkg::RdmaCatastrophicStream;
      refused_o = address_i != 0;
    end
  end
endmodule
