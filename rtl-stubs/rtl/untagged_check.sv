// Whether an untagged segment may be delivered: RFC 5041 sections 5.3 and 7.1, RFC 5040 and RFC 7306 for the message that it
// is. No registers. The answer of the receive requests is asked for before what the message says of itself is looked at.
module untagged_check (
  input  rnic_ddp_pkg::ddp_segment_t          segment_i,
  input  logic [31:0]                         qpn_i,
  input  rnic_messages_pkg::qp_context_t      qp_i,
  input  rnic_ddp_pkg::ddp_stream_t           stream_i,
  output logic                                ask_o,        // it needs a receive request
  input  rnic_ddp_pkg::rq_next_t              next_i,       // the answer
  input  logic                                readable_i,   // there is one, which is no list of too many elements
  input  logic                                long_i,       // it does not hold the message
  input  logic                                scatter_error_i,
  input  rnic_messages_pkg::stag_context_t    stag_i,       // what is to be invalidated
  input  rnic_messages_pkg::stag_context_t    region_i,     // of a window
  input  logic                                windows_i,    // windows are bound to it
  output logic                                absorb_o,     // the agreed ready-to-receive Send (RFC 6581)
  output logic                                send_o,       // another one
  output logic                                invalidate_o,
  output logic                                wait_o,       // for a receive request that is being fetched
  output logic                                error_o,
  output rnic_messages_pkg::terminate_cause_t cause_o
);

  // By kind, as RDMAP has it.
  logic        known, request, immediate, send, single;
  logic [31:0] queue;
  logic [15:0] message_bytes;  // of those that are one segment
  assign send      = segment_i.opcode >= rnic_messages_pkg::OpSend && segment_i.opcode <= rnic_messages_pkg::OpSendSeInvalidate;
  assign immediate = segment_i.opcode == rnic_messages_pkg::OpImmediate || segment_i.opcode == rnic_messages_pkg::OpImmediateSe;
  always_comb begin
    // RFC 7306: not with RDMAC peers (wire-facts 8.28).
    known = segment_i.opcode < rnic_messages_pkg::OpImmediate ? segment_i.opcode != rnic_messages_pkg::OpWrite && segment_i.opcode != rnic_messages_pkg::OpReadResponse
                                           : segment_i.opcode <= rnic_messages_pkg::OpAtomicResponse && qp_i.extensions && qp_i.version == 2'd1;
    request       = 1'b0;
    queue         = rnic_ddp_pkg::QnSend;
    message_bytes = '0;
    case (segment_i.opcode)
      rnic_messages_pkg::OpTerminate: queue = rnic_ddp_pkg::QnTerminate;
      rnic_messages_pkg::OpReadRequest: begin
        request       = 1'b1;
        queue         = rnic_ddp_pkg::QnRequest;
        message_bytes = 16'(rnic_ddp_pkg::ReadRequestBytes);
      end
      rnic_messages_pkg::OpAtomicRequest: begin
        request       = 1'b1;
        queue         = rnic_ddp_pkg::QnRequest;
        message_bytes = 16'(rnic_ddp_pkg::AtomicRequestBytes);
      end
      rnic_messages_pkg::OpAtomicResponse: begin
        request       = 1'b1;
        queue         = rnic_ddp_pkg::QnAtomicResponse;
        message_bytes = 16'(rnic_ddp_pkg::AtomicResponseBytes);
      end
      default: message_bytes = 16'(rnic_ddp_pkg::ImmediateBytes);
    endcase
    single = segment_i.payload == message_bytes && segment_i.last;
  end

  logic [31:0] msn;  // that is due
  always_comb begin
    case (queue)
      rnic_ddp_pkg::QnSend:    msn = stream_i.send_msn;
      rnic_ddp_pkg::QnRequest: msn = stream_i.request_msn;
      default:   msn = stream_i.response_msn;
    endcase
  end

  logic header_error;
  rnic_messages_pkg::terminate_cause_t header_cause;
  always_comb begin
    header_error = 1'b1;
    header_cause = '0;
    if (!segment_i.whole)                                                header_cause = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (segment_i.ddp_version != qp_i.version)                      header_cause = rnic_messages_pkg::DdpUntaggedInvalidVersion;
    else if (segment_i.qn > rnic_ddp_pkg::QnAtomicResponse)                            header_cause = rnic_messages_pkg::DdpInvalidQn;
    else if (segment_i.rdmap_version != qp_i.version)                    header_cause = rnic_messages_pkg::RdmaInvalidVersion;
    else if (!known)                                                     header_cause = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (segment_i.qn != queue)                                      header_cause = rnic_messages_pkg::DdpInvalidQn;
    else if (segment_i.opcode != rnic_messages_pkg::OpTerminate && segment_i.msn != msn)    header_cause = rnic_messages_pkg::DdpInvalidMsnRange;
    else                                                                 header_error = 1'b0;
  end

  logic invalidates, absorbs;
  assign invalidates = segment_i.opcode == rnic_messages_pkg::OpSendInvalidate || segment_i.opcode == rnic_messages_pkg::OpSendSeInvalidate;
  assign absorbs     = send && !invalidates && qp_i.absorbs_rtr_send && !stream_i.begun && segment_i.payload == '0 &&
                       segment_i.last;
  assign ask_o       = !header_error && ((send && !absorbs) || immediate);

  // RFC 5040 section 8.1.1: a region that its owner may have shared with other streams is not a peer's to end (wire-facts
  // 8.16).
  logic named, serves, foreign;
  stag_named u_named (.stag_i(segment_i.stag), .entry_i(stag_i), .region_i, .qpn_i, .qp_i, .named_o(named), .serves_o(serves));
  assign foreign = !serves || (!stag_i.allocated && (stag_i.access & rnic_messages_pkg::RemoteInvalidate) == '0) ||
                   stag_i.kind == rnic_messages_pkg::StagWindow1 || windows_i;

  assign wait_o = ask_o && next_i == rnic_ddp_pkg::RqFetching;
  always_comb begin
    error_o = 1'b1;
    cause_o = '0;
    if (header_error)                                        cause_o = header_cause;
    else if (ask_o && next_i == rnic_ddp_pkg::RqNone)                      cause_o = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    else if (ask_o && next_i == rnic_ddp_pkg::RqLost)                      cause_o = rnic_messages_pkg::RdmaLocalCatastrophic;
    else if (wait_o)                                         error_o = 1'b0;
    else if (request || immediate || absorbs) begin
      if (segment_i.mo != '0 || (immediate && stream_i.offset != '0)) cause_o = rnic_messages_pkg::DdpInvalidMo;
      else if (request && segment_i.payload > message_bytes) cause_o = rnic_messages_pkg::DdpMessageTooLong;
      else if (!absorbs && !single)                          cause_o = rnic_messages_pkg::RdmaOperationUnspecified;
      else                                                   error_o = 1'b0;
    end else if (send) begin
      if (!readable_i)                                       cause_o = rnic_messages_pkg::DdpLocalCatastrophic;
      else if (segment_i.mo != stream_i.offset)              cause_o = rnic_messages_pkg::DdpInvalidMo;
      else if (long_i)                                       cause_o = rnic_messages_pkg::DdpMessageTooLong;
      else if (invalidates && !named)                        cause_o = rnic_messages_pkg::RdmaUnknownStagCannotBeInvalidated;
      else if (invalidates && foreign)                       cause_o = rnic_messages_pkg::RdmaForeignStagCannotBeInvalidated;
      else if (scatter_error_i)                              cause_o = rnic_messages_pkg::DdpLocalCatastrophic;
      else                                                   error_o = 1'b0;
    end else begin
      error_o = 1'b0;  // a Terminate, whatever it looks like (wire-facts 8.52)
    end
  end
  assign absorb_o     = absorbs;
  assign send_o       = send && !absorbs;
  assign invalidate_o = invalidates;
endmodule
