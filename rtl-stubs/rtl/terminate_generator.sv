// Turns the first error of a stream into its one Terminate: the twin of model/rnic/terminate/terminate_generator. See
// terminate_generator.md there for the timing and the headers that each cause returns.
// The header leaves beside out_o as octets; out_o.bytes of them count. An external table records by queue pair whether it
// has reported an error, and in which epoch.
module terminate_generator #(
  parameter int unsigned QpBits = rnic_messages_pkg::QpBits  // at most 2**QpBits queue pairs
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  foreign_stag_is_invalid_i,  // as in RDMAP's first draft
  input  logic                                  in_valid_i,
  output logic                                  in_ready_o,
  input  rnic_messages_pkg::qp_event_t          in_i,
  input  logic                                  out_ready_i,
  output logic                                  out_valid_o,
  output rnic_messages_pkg::terminate_message_t out_o,
  output logic [8*52-1:0]                       out_octets_o,  // octet i at [8*i +: 8]
  input  logic                                  event_ready_i,
  output logic                                  event_valid_o,
  output rnic_messages_pkg::qp_event_t          event_o,

  // Of the QP of in_i.
  output logic [QpBits-1:0]                     qp_index_o,
  input  logic                                  qp_exists_i,
  input  logic [31:0]                           qp_epoch_i,
  input  logic [32:0]                           reported_i,
  output logic                                  reported_write_o,
  output logic [32:0]                           reported_o
);
  // RFC 5040 section 7.1 rule 4: only the first of several errors is reported.
  logic take, first;
  assign in_ready_o       = out_ready_i && event_ready_i;
  assign take             = in_valid_i && in_ready_o;
  assign qp_index_o       = in_i.qpn[QpBits-1:0];
  assign reported_o       = {1'b1, qp_epoch_i};
  assign reported_write_o = take && qp_exists_i;
  assign first            = reported_write_o && reported_i != reported_o;
  assign out_valid_o      = first;
  assign event_valid_o    = first;

  // The RFCs have separate codes for foreign STags; the first draft does not.
  rnic_messages_pkg::terminate_cause_t cause;
  always_comb begin
    cause = in_i.cause;
    if (foreign_stag_is_invalid_i) begin
      if (in_i.cause == rnic_messages_pkg::DdpStagNotAssociated)  cause = rnic_messages_pkg::DdpInvalidStag;
      if (in_i.cause == rnic_messages_pkg::RdmaStagNotAssociated) cause = rnic_messages_pkg::RdmaInvalidStag;
    end
  end

  // The headers in a Terminate of this cause (RFC 5040 section 4.8, figure 10).
  localparam logic [3:0] LocalCatastrophicType = 4'd0, RemoteProtectionType = 4'd1;
  logic returns_ddp, returns_request;
  assign returns_ddp     = cause.layer == rnic_messages_pkg::LayerDdp ||
                           (cause.layer == rnic_messages_pkg::LayerRdma && cause.etype != LocalCatastrophicType);
  assign returns_request = cause.layer == rnic_messages_pkg::LayerRdma && cause.etype == RemoteProtectionType;

  rnic_messages_pkg::failed_segment_t failed;
  always_comb begin
    failed = in_i.failed;
    if (!returns_request) failed.request_bytes = '0;
    if (!returns_ddp)     failed = '0;
    event_o        = in_i;
    event_o.cause  = cause;
    event_o.failed = failed;
  end

  // Control word, ULPDU_Length, DDP header, and a Read Request's header after it.
  logic m, d, r;
  assign d            = failed.ddp_bytes != 0;
  assign m            = d && failed.length != 0;
  assign r            = d && failed.request_bytes != 0;
  assign out_octets_o = {failed.octets, failed.length[7:0], failed.length[15:8], 8'd0, m, d, r, 5'd0, cause.code,
                         cause.layer, cause.etype};
  assign out_o.qpn    = in_i.qpn;
  assign out_o.bytes  = d ? 6'd6 + 6'(failed.ddp_bytes) + 6'(failed.request_bytes) : 6'd4;
  assign out_o.epoch  = qp_epoch_i;

  // A header is complete or absent.
  always_ff @(posedge clk_i) begin
    if (rst_ni && in_valid_i) begin
      QpnFits_A  : assert (in_i.qpn >> QpBits == 0);
      Ddp_A      : assert (in_i.failed.ddp_bytes == 0 || in_i.failed.ddp_bytes == 14 || in_i.failed.ddp_bytes == 18);
      Request_A  : assert (in_i.failed.request_bytes == 0 || (in_i.failed.request_bytes == 28 && in_i.failed.ddp_bytes != 0));
      OneEach_A  : assert (out_valid_o == event_valid_o);
      MaxBytes_A : assert (out_o.bytes <= 6'd52);
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoHeaders_C         : cover (out_valid_o && !d);
      DdpHeader_C         : cover (out_valid_o && d && !r);
      ReadRequestHeader_C : cover (out_valid_o && r);
      NoMessage_C         : cover (in_valid_i && in_ready_o && !out_valid_o);
      Stalled_C           : cover (in_valid_i && !in_ready_o);
    end
  end

  if (QpBits < 1 || QpBits > 16) begin : gen_check
    $error("terminate_generator: QpBits must be 1 to 16");
  end
endmodule
