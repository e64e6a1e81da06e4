// The kind of an untagged message, by its opcode: RFC 5040 section 4.3, RFC 7306 sections 4 and 6. No registers.
module message_kind (
  input  logic [3:0]                  opcode_i,
  input  logic                        extended_i,  // RFC 7306 is enabled
  output rnic_ddp_pkg::message_kind_t kind_o
);
  always_comb begin
    kind_o       = '0;
    kind_o.known = 1'b1;
    kind_o.qn    = rnic_ddp_pkg::QnSend;
    case (opcode_i)
      rnic_messages_pkg::OpSend, rnic_messages_pkg::OpSendSe: kind_o.send = 1'b1;
      rnic_messages_pkg::OpSendInvalidate, rnic_messages_pkg::OpSendSeInvalidate: begin
        kind_o.send        = 1'b1;
        kind_o.invalidates = 1'b1;
      end
      rnic_messages_pkg::OpReadRequest: begin
        kind_o.sized = 1'b1;
        kind_o.bytes = 16'(rnic_ddp_pkg::ReadRequestBytes);
        kind_o.qn    = rnic_ddp_pkg::QnRequest;
      end
      rnic_messages_pkg::OpTerminate: kind_o.qn    = rnic_ddp_pkg::QnTerminate;
      rnic_messages_pkg::OpImmediate, rnic_messages_pkg::OpImmediateSe: begin
        kind_o.known     = extended_i;
        kind_o.immediate = 1'b1;
        kind_o.bytes     = 16'(rnic_ddp_pkg::ImmediateBytes);
      end
      rnic_messages_pkg::OpAtomicRequest: begin
        kind_o.known = extended_i;
        kind_o.sized = 1'b1;
        kind_o.bytes = 16'(rnic_ddp_pkg::AtomicRequestBytes);
        kind_o.qn    = rnic_ddp_pkg::QnRequest;
      end
      rnic_messages_pkg::OpAtomicResponse: begin
        kind_o.known = extended_i;
        kind_o.sized = 1'b1;
        kind_o.bytes = 16'(rnic_ddp_pkg::AtomicResponseBytes);
        kind_o.qn    = rnic_ddp_pkg::QnAtomicResponse;
      end
      default: kind_o.known = 1'b0;  // tagged and unassigned ones
    endcase
  end
endmodule
