// Merges the FPDUs of two lower layers, MPA and SCTP. Each comes in beat by beat, independent of the other, up to its last
// beat. If both have a last beat, the layer that was not judged last is next. A beat that waits keeps its turn.
module fpdu_select #(
  parameter int unsigned BeatBytes = 64
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t         in_i,
  input  logic [8*BeatBytes-1:0]              in_data_i,
  input  logic [31:0]                         in_offset_i,
  input  logic                                sctp_in_valid_i,
  output logic                                sctp_in_ready_o,
  input  rnic_stream_pkg::fpdu_beat_t         sctp_in_i,
  input  logic [8*BeatBytes-1:0]              sctp_in_data_i,
  input  logic [31:0]                         sctp_in_offset_i,
  // Of each layer, the header of the FPDU that comes in, when it is complete.
  output logic                                mpa_header_o,
  output rnic_ddp_pkg::ddp_segment_t          mpa_segment_o,
  output logic                                sctp_header_o,
  output rnic_ddp_pkg::ddp_segment_t          sctp_segment_o,
  // The selected last beat, and its FPDU.
  output logic                                valid_o,
  output logic                                sctp_o,    // its transport
  input  logic                                judged_i,  // it is judged in this cycle,
  input  logic                                take_i,    // and taken,
  input  logic                                waits_i,   // or an earlier one has begun to wait: the same again
  output rnic_stream_pkg::fpdu_beat_t         beat_o,
  output logic [31:0]                         at_o,      // of the FPDU in its buffer
  output rnic_ddp_pkg::ddp_segment_t          segment_o,
  output rnic_messages_pkg::failed_segment_t  failed_o,
  output rnic_messages_pkg::read_request_t    read_request_o,
  output rnic_messages_pkg::atomic_request_t  atomic_request_o,
  output rnic_messages_pkg::atomic_response_t atomic_response_o,
  output logic [63:0]                         immediate_o,
  output logic                                told_o,
  output rnic_messages_pkg::terminate_cause_t told_cause_o,
  output rnic_messages_pkg::failed_segment_t  told_failed_o
);

  logic mpa_last, sctp_last, sctp_q;  // sctp_q: SCTP's beat was judged last
  assign mpa_last  = in_valid_i && in_i.last;
  assign sctp_last = sctp_in_valid_i && sctp_in_i.last;
  assign valid_o   = mpa_last || sctp_last;
  always_comb begin
    if (waits_i)     sctp_o = sctp_q;
    else if (sctp_q) sctp_o = !mpa_last;
    else             sctp_o = sctp_last;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)       sctp_q <= 1'b1;
    else if (judged_i) sctp_q <= sctp_o;
  end
  assign in_ready_o      = in_valid_i && (!in_i.last || (take_i && !sctp_o));
  assign sctp_in_ready_o = sctp_in_valid_i && (!sctp_in_i.last || (take_i && sctp_o));

  logic [31:0]                         mpa_at, sctp_at;
  rnic_messages_pkg::failed_segment_t  mpa_failed, sctp_failed;
  rnic_messages_pkg::read_request_t    mpa_read_request, sctp_read_request;
  rnic_messages_pkg::atomic_request_t  mpa_atomic_request, sctp_atomic_request;
  rnic_messages_pkg::atomic_response_t mpa_atomic_response, sctp_atomic_response;
  logic [63:0]                         mpa_immediate, sctp_immediate;
  logic                                mpa_told, sctp_told;
  rnic_messages_pkg::terminate_cause_t mpa_told_cause, sctp_told_cause;
  rnic_messages_pkg::failed_segment_t  mpa_told_failed, sctp_told_failed;
  fpdu_input #(.BeatBytes(BeatBytes)) u_mpa (
    .clk_i, .rst_ni,
    .valid_i          (in_valid_i),
    .take_i           (in_ready_o),
    .beat_i           (in_i),
    .data_i           (in_data_i),
    .offset_i         (in_offset_i),
    .at_o             (mpa_at),
    .header_o         (mpa_header_o),
    .segment_o        (mpa_segment_o),
    .failed_o         (mpa_failed),
    .read_request_o   (mpa_read_request),
    .atomic_request_o (mpa_atomic_request),
    .atomic_response_o(mpa_atomic_response),
    .immediate_o      (mpa_immediate),
    .told_o           (mpa_told),
    .told_cause_o     (mpa_told_cause),
    .told_failed_o    (mpa_told_failed)
  );
  fpdu_input #(.BeatBytes(BeatBytes)) u_sctp (
    .clk_i, .rst_ni,
    .valid_i          (sctp_in_valid_i),
    .take_i           (sctp_in_ready_o),
    .beat_i           (sctp_in_i),
    .data_i           (sctp_in_data_i),
    .offset_i         (sctp_in_offset_i),
    .at_o             (sctp_at),
    .header_o         (sctp_header_o),
    .segment_o        (sctp_segment_o),
    .failed_o         (sctp_failed),
    .read_request_o   (sctp_read_request),
    .atomic_request_o (sctp_atomic_request),
    .atomic_response_o(sctp_atomic_response),
    .immediate_o      (sctp_immediate),
    .told_o           (sctp_told),
    .told_cause_o     (sctp_told_cause),
    .told_failed_o    (sctp_told_failed)
  );

  assign beat_o            = sctp_o ? sctp_in_i : in_i;
  assign at_o              = sctp_o ? sctp_at : mpa_at;
  assign segment_o         = sctp_o ? sctp_segment_o : mpa_segment_o;
  assign failed_o          = sctp_o ? sctp_failed : mpa_failed;
  assign read_request_o    = sctp_o ? sctp_read_request : mpa_read_request;
  assign atomic_request_o  = sctp_o ? sctp_atomic_request : mpa_atomic_request;
  assign atomic_response_o = sctp_o ? sctp_atomic_response : mpa_atomic_response;
  assign immediate_o       = sctp_o ? sctp_immediate : mpa_immediate;
  assign told_o            = sctp_o ? sctp_told : mpa_told;
  assign told_cause_o      = sctp_o ? sctp_told_cause : mpa_told_cause;
  assign told_failed_o     = sctp_o ? sctp_told_failed : mpa_told_failed;

  // SCTP checks its packets itself.
  always_ff @(posedge clk_i) begin
    if (rst_ni && sctp_last) begin
      SctpIsWhole_A : assert (sctp_in_i.crc_ok && sctp_in_i.marker_ok);
    end
  end

  // What tests have to reach.
  logic waits_q;
  always_ff @(posedge clk_i) waits_q <= waits_i;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      MpaOfBoth_C      : cover (judged_i && mpa_last && sctp_last && !sctp_o && !waits_i);
      SctpOfBoth_C     : cover (judged_i && mpa_last && sctp_last && sctp_o && !waits_i);
      MpaAmidSctp_C    : cover (take_i && !sctp_o && sctp_in_valid_i && !sctp_in_i.last);
      SctpAmidMpa_C    : cover (take_i && sctp_o && in_valid_i && !in_i.last);
      SctpBehindWait_C : cover (waits_i && waits_q && !sctp_o && sctp_last);
      MpaBehindWait_C  : cover (waits_i && waits_q && sctp_o && mpa_last);
      SctpEnds_C       : cover (take_i && sctp_o && sctp_in_i.ends);
    end
  end
endmodule
