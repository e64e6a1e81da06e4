// What ddp_placement reports of a placed segment: PlacedSegment. No registers.
module placement_record (
  input  rnic_ddp_pkg::ddp_segment_t          segment_i,
  input  logic [31:0]                         qpn_i,
  input  logic [31:0]                         epoch_i,
  input  logic [31:0]                         pd_i,
  input  logic [31:0]                         recv_cq_i,
  input  logic                                absorb_i,
  input  logic                                send_i,         // a Send that is not absorbed
  input  logic                                awaits_write_i,
  input  logic                                opens_i,
  input  logic [31:0]                         message_i,      // octets of its message so far
  input  logic                                use_i,          // it fills its receive request
  input  logic [63:0]                         wr_id_i,        // of that request
  input  rnic_messages_pkg::failed_segment_t  failed_i,
  input  rnic_messages_pkg::read_request_t    read_request_i,
  input  rnic_messages_pkg::atomic_request_t  atomic_request_i,
  input  rnic_messages_pkg::atomic_response_t atomic_response_i,
  input  logic [63:0]                         immediate_i,
  input  logic                                told_i,         // from a Terminate, as in ddp_header
  input  rnic_messages_pkg::terminate_cause_t told_cause_i,
  input  rnic_messages_pkg::failed_segment_t  told_failed_i,
  output rnic_messages_pkg::placed_segment_t  record_o
);
  always_comb begin
    record_o              = '0;
    record_o.qpn          = qpn_i;
    record_o.epoch        = epoch_i;
    record_o.pd           = pd_i;
    record_o.recv_cq      = recv_cq_i;
    record_o.opcode       = segment_i.opcode;
    record_o.last         = segment_i.last;
    record_o.awaits_write = awaits_write_i;
    record_o.opens        = opens_i;
    if (segment_i.is_tagged || send_i) begin
      record_o.octets = segment_i.payload;
      if (segment_i.last) record_o.bytes = message_i;
    end
    if (use_i) record_o.wr_id = wr_id_i;
    if (!segment_i.is_tagged) begin
      record_o.stag = segment_i.stag;
      if (segment_i.qn == rnic_ddp_pkg::QnRequest || segment_i.qn == rnic_ddp_pkg::QnAtomicResponse) begin
        record_o.headers = failed_i;
      end
      case (segment_i.opcode)
        rnic_messages_pkg::OpReadRequest:    record_o.read            = read_request_i;
        rnic_messages_pkg::OpAtomicRequest:  record_o.atomic          = atomic_request_i;
        rnic_messages_pkg::OpAtomicResponse: record_o.atomic_response = atomic_response_i;
        rnic_messages_pkg::OpImmediate, rnic_messages_pkg::OpImmediateSe: record_o.immediate = immediate_i;
        rnic_messages_pkg::OpTerminate: begin
          record_o.cause     = told_i ? told_cause_i : rnic_messages_pkg::RdmaOperationUnspecified;
          record_o.malformed = !told_i || segment_i.msn != 32'd1 || segment_i.mo != '0 || !segment_i.last;
          if (told_i) record_o.headers = told_failed_i;
        end
        default: record_o.absorbed = absorb_i;
      endcase
    end
  end
endmodule
