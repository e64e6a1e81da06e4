// One direction of a stream of TLPs (PCI Express Base Specification, chapter 2), in the framing of AXI4-Stream: octet 0, with Fmt and
// Type, is the lowest one of the first beat. Header, data and digest are whole double words.
module tlp_stream_checker #(
  parameter int unsigned DataBytes      = 64,    // of a beat, at least 16
  parameter int unsigned MaxPayload     = 256,   // octets
  parameter int unsigned MaxReadRequest = 512    // octets
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   tvalid_i,
  input  logic                   tready_i,
  input  logic [8*DataBytes-1:0] tdata_i,
  input  logic [DataBytes-1:0]   tkeep_i,
  input  logic                   tlast_i,
  output logic                   head_o,        // a TLP begins at this edge:
  output logic                   completion_o,
  output logic                   non_posted_o,  // it is answered
  output logic [9:0]             tag_o,
  output logic [12:0]            bytes_o,       // octets that it asks for, or brings
  output logic [12:0]            left_o,        // of a completion: its Byte Count
  output logic                   good_o         // of a completion: its status
);
  axis_checker #(.DataBytes(DataBytes)) u_axis (
    .clk_i, .rst_ni, .tvalid_i, .tready_i, .tdata_i, .tkeep_i, .tlast_i, .tuser_i(1'b0)
  );

  // The header (section 2.2.1): octets in the order of the wire, of which the first is the most significant one of a field.
  logic        open_q;
  logic [2:0]  fmt;
  logic [4:0]  kind;
  logic        memory, four, with_data, digest, atomic, io_or_config, message;
  logic [9:0]  length_field;
  logic [10:0] length;                // double words
  logic [11:0] count_field;
  logic [3:0]  first_be, last_be;
  logic [63:0] address;
  assign head_o       = rst_ni && tvalid_i && tready_i && !open_q;
  assign {fmt, kind}  = tdata_i[7:0];
  assign four         = fmt[0];
  assign with_data    = fmt[1];
  assign digest       = tdata_i[8*2+7];
  assign length_field = {tdata_i[8*2+:2], tdata_i[8*3+:8]};
  assign length       = {length_field == '0, length_field};  // 0 is the most
  assign {last_be, first_be} = tdata_i[8*7+:8];
  assign address      = four ? {tdata_i[8*8+:8], tdata_i[8*9+:8], tdata_i[8*10+:8], tdata_i[8*11+:8],
                                tdata_i[8*12+:8], tdata_i[8*13+:8], tdata_i[8*14+:8], tdata_i[8*15+2+:6], 2'd0} :
                               {32'd0, tdata_i[8*8+:8], tdata_i[8*9+:8], tdata_i[8*10+:8], tdata_i[8*11+2+:6], 2'd0};
  assign memory       = kind == 5'b00000 && !fmt[2];
  assign atomic       = (kind == 5'b01100 || kind == 5'b01101 || kind == 5'b01110) && with_data && !fmt[2];
  assign io_or_config = (kind == 5'b00010 || kind == 5'b00100 || kind == 5'b00101) && !four && !fmt[2];
  assign message      = kind[4:3] == 2'b10 && four && !fmt[2];
  assign completion_o = kind == 5'b01010 && !four && !fmt[2];
  assign non_posted_o = (memory && !with_data) || atomic || io_or_config;
  assign tag_o        = completion_o ? {tdata_i[8*1+7], tdata_i[8*1+3], tdata_i[8*10+:8]} :
                                       {tdata_i[8*1+7], tdata_i[8*1+3], tdata_i[8*6+:8]};
  assign count_field  = {tdata_i[8*6+:4], tdata_i[8*7+:8]};
  assign left_o       = {count_field == '0, count_field};
  assign good_o       = tdata_i[8*6+5+:3] == '0;

  // Octets by the byte enables (section 2.2.5); a read of none is answered with one (section 2.3.1.1).
  function automatic logic [1:0] gaps_below(input logic [3:0] be);
    gaps_below = be[0] ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : 2'd3;
  endfunction
  function automatic logic [1:0] gaps_above(input logic [3:0] be);
    gaps_above = be[3] ? 2'd0 : be[2] ? 2'd1 : be[1] ? 2'd2 : 2'd3;
  endfunction
  logic [1:0]  below, above;
  logic [12:0] rest, brought;
  assign below   = gaps_below(first_be);
  assign above   = gaps_above(length == 11'd1 ? first_be : last_be);
  // A completion's data begin within a double word, at Lower Address; the last one ends where Byte Count does.
  assign rest    = {length, 2'd0} - {11'd0, tdata_i[8*11+:2]};
  assign brought = rest < left_o ? rest : left_o;
  assign bytes_o = completion_o ? (with_data ? brought : '0) :
                   atomic ? (kind == 5'b01110 ? {length, 2'd0} >> 1 : {length, 2'd0}) :
                   memory && length == 11'd1 && first_be == '0 ? 13'd1 :
                   memory ? {length, 2'd0} - {11'd0, below} - {11'd0, above} : 13'd4;

  // Double words of the whole TLP.
  logic [11:0] words_q, words, due_q, due;
  assign due   = open_q ? due_q : 12'd3 + 12'(four) + (with_data ? 12'(length) : '0) + 12'(digest);
  assign words = (open_q ? words_q : '0) + 12'($countones(tkeep_i) >> 2);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                   open_q <= 1'b0;
    else if (tvalid_i && tready_i) open_q <= !tlast_i;
  end
  always_ff @(posedge clk_i) begin
    if (tvalid_i && tready_i) begin
      words_q <= words;
      due_q   <= due;
    end
  end

  TypeIsAssigned_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o |-> memory || atomic || io_or_config || message || completion_o);
  WholeWords_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && tready_i |-> $countones(tkeep_i) % 4 == 0);
  LengthOfItsHeader_A : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && tready_i |-> tlast_i ? words == due : words < due);
  WithinMps_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && with_data |-> {2'd0, length} <= 13'(MaxPayload / 4));
  WithinMrrs_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && memory && !with_data |-> {2'd0, length} <= 13'(MaxReadRequest / 4));
  // Section 2.2.7: a memory request does not cross a multiple of 4 KiB.
  Within4KiB_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && memory |-> 14'(address[11:0]) + {1'b0, length, 2'd0} <= 14'd4096);
  // Section 2.2.4.1: an address below 4 GiB has the short header.
  ShortHeader_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && (memory || atomic) && four |-> address[63:32] != '0);
  // Section 2.2.5: one double word has no last byte enables; more of them have both.
  ByteEnables_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && memory |-> length == 11'd1 ? last_be == '0 : last_be != '0 && first_be != '0);
  // Section 2.2.9: a completion with data is a good one, and brings no more than is left.
  DataIfGood_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && completion_o && with_data |-> good_o);
  WithinByteCount_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) head_o && completion_o && with_data |-> {length, 2'd0} < left_o + 13'd8);
`ifdef RNIC_SVA_FULL
  Longest_C    : cover property (@(posedge clk_i) disable iff (!rst_ni) head_o && with_data && {2'd0, length} == 13'(MaxPayload / 4));
  AtThe4KiB_C  : cover property (@(posedge clk_i) disable iff (!rst_ni) head_o && memory && 14'(address[11:0]) + {1'b0, length, 2'd0} == 14'd4096);
  BackToBack_C : cover property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && tready_i && tlast_i ##1 head_o);
`endif
  if (DataBytes < 16) begin : gen_check
    $error("tlp_stream_checker: DataBytes must be at least 16");
  end
endmodule
