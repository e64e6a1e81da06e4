// Both directions of a device's TLPs: the tags of its requests, and the completions that come for them.
module tlp_checker #(
  parameter int unsigned DataBytes      = 64,
  parameter int unsigned MaxPayload     = 256,  // octets
  parameter int unsigned MaxReadRequest = 512,  // octets
  parameter int unsigned TagBits        = 8     // 5, 8 or 10
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   out_tvalid_i,  // from the device
  input logic                   out_tready_i,
  input logic [8*DataBytes-1:0] out_tdata_i,
  input logic [DataBytes-1:0]   out_tkeep_i,
  input logic                   out_tlast_i,
  input logic                   in_tvalid_i,   // to the device
  input logic                   in_tready_i,
  input logic [8*DataBytes-1:0] in_tdata_i,
  input logic [DataBytes-1:0]   in_tkeep_i,
  input logic                   in_tlast_i
);
  logic        out_head, out_non_posted, in_head, in_completion, in_good;
  logic [9:0]  out_tag, in_tag;
  logic [12:0] out_bytes, in_bytes, in_left;
  logic        unused_completion, unused_good, unused_non_posted;
  logic [12:0] unused_left;
  tlp_stream_checker #(.DataBytes(DataBytes), .MaxPayload(MaxPayload), .MaxReadRequest(MaxReadRequest)) u_out (
    .clk_i, .rst_ni,
    .tvalid_i(out_tvalid_i), .tready_i(out_tready_i), .tdata_i(out_tdata_i), .tkeep_i(out_tkeep_i), .tlast_i(out_tlast_i),
    .head_o(out_head), .completion_o(unused_completion), .non_posted_o(out_non_posted), .tag_o(out_tag), .bytes_o(out_bytes), .left_o(unused_left),
    .good_o(unused_good)
  );
  tlp_stream_checker #(.DataBytes(DataBytes), .MaxPayload(MaxPayload), .MaxReadRequest(MaxReadRequest)) u_in (
    .clk_i, .rst_ni,
    .tvalid_i(in_tvalid_i), .tready_i(in_tready_i), .tdata_i(in_tdata_i), .tkeep_i(in_tkeep_i), .tlast_i(in_tlast_i),
    .head_o(in_head), .completion_o(in_completion), .non_posted_o(unused_non_posted), .tag_o(in_tag), .bytes_o(in_bytes), .left_o(in_left),
    .good_o(in_good)
  );

  // What each tag still waits for; 0: it is free.
  logic [12:0]        waits_q [2**TagBits];
  logic               asks, answers, known, free;
  logic [TagBits-1:0] asked, answered;
  logic [12:0]        waits;
  assign asks     = out_head && out_non_posted;
  assign answers  = in_head && in_completion;
  assign asked    = out_tag[TagBits-1:0];
  assign answered = in_tag[TagBits-1:0];
  assign waits    = waits_q[answered];
  assign free     = waits_q[asked] == '0;
  assign known    = waits != '0 && (in_tag >> TagBits) == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= '{default: '0};
    end else begin
      if (answers && known) waits_q[answered] <= in_good && in_bytes < waits ? waits - in_bytes : '0;
      if (asks)             waits_q[asked] <= out_bytes;
    end
  end

  // Section 2.2.6.2: a tag is unique while its request waits. Section 2.3.1.1: completions of a request bring all of it, in order.
  TagInRange_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) asks |-> (out_tag >> TagBits) == '0);
  TagIsFree_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) asks |-> free);
  TagWasAsked_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) answers |-> known);
  ByteCountIsLeft_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) answers && in_good && known && in_bytes != '0 |-> in_left == waits);
`ifdef RNIC_SVA_FULL
  AnswerComes_A : assume property (@(posedge clk_i) disable iff (!rst_ni) asks |-> s_eventually (answers && in_tag == out_tag));
  Split_C       : cover property (@(posedge clk_i) disable iff (!rst_ni) answers && in_good && in_bytes < waits);
`endif
endmodule
