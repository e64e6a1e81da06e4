// Whether an untagged segment may be delivered: RFC 5041 sections 5.3 and 7.1, and RFC 5040 and RFC 7306 for its message.
// No registers. The receive requests answer between the checks of the header and those of the message.
module untagged_check (
  input  rnic_ddp_pkg::ddp_segment_t          segment_i,
  input  logic [31:0]                         qpn_i,
  input  rnic_messages_pkg::rx_context_t      qp_i,
  input  rnic_messages_pkg::qp_rx_t            stream_i,
  input  logic                                full_i,           // IRD requests are held already
  output logic                                ask_o,            // it needs a receive request
  input  rnic_ddp_pkg::rq_next_t              next_i,           // the answer
  input  logic                                readable_i,       // it was read, and its list is not too long
  input  logic                                long_i,           // its list does not hold the message
  output logic                                need_o,           // it needs the entries of its list and of its STag:
  input  logic                                there_i,          // they are here
  input  logic                                scatter_error_i,  // its memory may not be written
  input  rnic_messages_pkg::stag_context_t    stag_i,           // the entry to be invalidated
  input  rnic_messages_pkg::stag_context_t    region_i,         // of a window
  input  logic                                windows_i,        // windows are bound to it
  output logic                                absorb_o,         // the agreed ready-to-receive Send (RFC 6581)
  output logic                                send_o,           // any other Send
  output logic                                invalidate_o,     // it invalidates an STag
  output logic                                fetch_wait_o,     // for a receive request that is being fetched
  output logic                                wait_o,           // for that, or for entries
  output logic                                error_o,
  output rnic_messages_pkg::terminate_cause_t cause_o
);
  // RDMAC peers cannot know RFC 7306 (choices.md 15).
  rnic_ddp_pkg::message_kind_t kind;
  message_kind u_kind (
    .opcode_i  (segment_i.opcode),
    .extended_i(qp_i.extensions && qp_i.version == 2'd1),
    .kind_o    (kind)
  );

  logic        terminates, whole;
  logic [31:0] msn;  // expected
  assign terminates = segment_i.opcode == rnic_messages_pkg::OpTerminate;
  assign whole      = segment_i.payload == kind.bytes && segment_i.last;
  always_comb begin
    case (kind.qn)
      rnic_ddp_pkg::QnSend:    msn = stream_i.msn_send;
      rnic_ddp_pkg::QnRequest: msn = stream_i.msn_request;
      default:                 msn = stream_i.msn_response;
    endcase
  end

  logic                                header_error;
  rnic_messages_pkg::terminate_cause_t header_cause;
  always_comb begin
    header_error = 1'b1;
    header_cause = '0;
    if (!segment_i.whole)                                    header_cause = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (segment_i.ddp_version != qp_i.version)          header_cause = rnic_messages_pkg::DdpUntaggedInvalidVersion;
    else if (segment_i.qn > rnic_ddp_pkg::QnAtomicResponse)  header_cause = rnic_messages_pkg::DdpInvalidQn;
    else if (segment_i.rdmap_version != qp_i.version)        header_cause = rnic_messages_pkg::RdmaInvalidVersion;
    else if (!kind.known)                                    header_cause = rnic_messages_pkg::RdmaUnexpectedOpcode;
    else if (segment_i.qn != kind.qn)                     header_cause = rnic_messages_pkg::DdpInvalidQn;  // 8.53
    else if (!terminates && segment_i.msn != msn)            header_cause = rnic_messages_pkg::DdpInvalidMsnRange;
    else                                                     header_error = 1'b0;
  end

  assign absorb_o     = kind.send && !kind.invalidates && qp_i.absorbs_rtr_send && stream_i.stream == rnic_messages_pkg::RxNew &&
                        segment_i.payload == '0 && segment_i.last;
  assign send_o       = kind.send && !absorb_o;
  assign invalidate_o = kind.invalidates;
  assign ask_o        = !header_error && (send_o || kind.immediate);
  assign fetch_wait_o = ask_o && next_i == rnic_ddp_pkg::RqFetching;
  assign need_o       = ask_o && send_o && next_i == rnic_ddp_pkg::RqThere && readable_i &&
                        segment_i.mo == stream_i.offset && !long_i;
  assign wait_o       = fetch_wait_o || (need_o && !there_i);

  // RFC 5040 section 8.1.1: a peer may not invalidate a region that its owner may have shared with other streams
  // (choices.md 9).
  logic named, serves, foreign;
  stag_named u_named (
    .stag_i  (segment_i.stag),
    .entry_i (stag_i),
    .region_i,
    .qpn_i,
    .qp_i,
    .named_o (named),
    .serves_o(serves)
  );
  assign foreign = !serves || (!stag_i.allocated && (stag_i.access & rnic_messages_pkg::RemoteInvalidate) == '0) ||
                   stag_i.kind == rnic_messages_pkg::StagWindow1 || windows_i;

  // An error in a Terminate has only local effects: two ends must not answer each other (choices.md 18).
  logic not_at_start;
  assign not_at_start = segment_i.mo != '0 || (kind.immediate && stream_i.offset != '0);
  always_comb begin
    error_o = 1'b1;
    cause_o = '0;
    if (header_error)                                        cause_o = header_cause;
    else if (kind.qn == rnic_ddp_pkg::QnRequest && full_i)   cause_o = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    else if (ask_o && next_i == rnic_ddp_pkg::RqNone)        cause_o = rnic_messages_pkg::DdpInvalidMsnNoBuffer;
    else if (ask_o && next_i == rnic_ddp_pkg::RqLost)        cause_o = rnic_messages_pkg::RdmaLocalCatastrophic;
    else if (fetch_wait_o || terminates)                           error_o = 1'b0;
    else if (!send_o) begin
      if (not_at_start)                                      cause_o = rnic_messages_pkg::DdpInvalidMo;
      else if (kind.sized && segment_i.payload > kind.bytes) cause_o = rnic_messages_pkg::DdpMessageTooLong;
      else if (!absorb_o && !whole)                          cause_o = rnic_messages_pkg::RdmaOperationUnspecified;
      else                                                   error_o = 1'b0;
    end
    else if (!readable_i)                                    cause_o = rnic_messages_pkg::DdpLocalCatastrophic;
    else if (segment_i.mo != stream_i.offset)                cause_o = rnic_messages_pkg::DdpInvalidMo;
    else if (long_i)                                         cause_o = rnic_messages_pkg::DdpMessageTooLong;
    else if (!there_i)                                       error_o = 1'b0;
    else if (invalidate_o && !named)                         cause_o = rnic_messages_pkg::RdmaUnknownStagCannotBeInvalidated;
    else if (invalidate_o && foreign)                        cause_o = rnic_messages_pkg::RdmaForeignStagCannotBeInvalidated;
    else if (scatter_error_i)                                cause_o = rnic_messages_pkg::DdpLocalCatastrophic;
    else                                                     error_o = 1'b0;
  end
endmodule
