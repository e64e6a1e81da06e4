// Frames on their way to or from a MAC: the first octet is the destination's first one (IEEE 802.3 clause 3).
module ethernet_checker #(
  parameter int unsigned DataBytes = 64,    // of a beat, at least 16
  parameter bit          Fcs       = 1'b0,  // the frame check sequence is among the octets
  parameter int unsigned MaxFrame  = 1518,  // with it
  parameter int unsigned Gap       = 0,     // octets from a frame's last one to the next frame's first, with preamble: 20 with FCS, else 24;
                                            // 0: the MAC inserts them
  parameter bit          Pauses    = 1'b0   // a frame may have cycles without a beat
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   valid_i,   // this beat passes
  input logic [8*DataBytes-1:0] data_i,
  input logic [DataBytes-1:0]   keep_i,
  input logic                   last_i
);
  localparam int unsigned Least = Fcs ? 64 : 60;
  localparam int unsigned Most  = Fcs ? MaxFrame : MaxFrame - 4;

  logic        open_q;   // a frame has begun
  logic [16:0] octets_q, octets;
  logic [16:0] idle_q;   // octets since the last frame, at most 65536
  logic [16:0] here;     // octets of this beat
  assign here   = 17'($countones(keep_i));
  assign octets = (open_q ? octets_q : '0) + here;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      idle_q <= 17'd65536;
    end else begin
      if (valid_i)                open_q <= !last_i;
      if (valid_i && last_i)      idle_q <= 17'(DataBytes) - here;
      else if (!idle_q[16])       idle_q <= idle_q + 17'(DataBytes);
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) octets_q <= octets;
  end

  logic        first;
  logic [15:0] kind;     // length or EtherType
  assign first = valid_i && !open_q;
  assign kind  = {data_i[8*12+:8], data_i[8*13+:8]};

  NotValidInReset_A  : assert property (@(posedge clk_i) !rst_ni |-> !valid_i);
  KeepIsOneRun_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> keep_i != '0 && (keep_i & (keep_i + 1'b1)) == '0);
  FullBeforeLast_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i && !last_i |-> keep_i[DataBytes-1]);
  LongEnough_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i && last_i |-> octets >= 17'(Least));
  ShortEnough_A      : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> octets <= 17'(Most));
  SourceIsOneHost_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) first |-> !data_i[8*6]);
  KindIsAssigned_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) first |-> kind <= 16'd1500 || kind >= 16'h0600);
  if (!Pauses) begin : gen_line
    NoHole_A         : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && valid_i && !last_i |=> valid_i);
  end
  if (Gap != 0) begin : gen_gap
    GapIsLongEnough_A : assert property (@(posedge clk_i) disable iff (!rst_ni) first |-> idle_q >= 17'(Gap));
  end
  if (DataBytes < 16) begin : gen_check
    $error("ethernet_checker: DataBytes must be at least 16");
  end
`ifdef RNIC_SVA_FULL
  LastComes_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) first && !last_i |-> s_eventually (valid_i && last_i));
  DataIsKnown_A : assert property (@(posedge clk_i) disable iff (!rst_ni) valid_i |-> !$isunknown({keep_i, last_i}));
  Shortest_C    : cover property (@(posedge clk_i) disable iff (!rst_ni) valid_i && last_i && octets == 17'(Least));
  Longest_C     : cover property (@(posedge clk_i) disable iff (!rst_ni) valid_i && last_i && octets == 17'(Most));
  BackToBack_C  : cover property (@(posedge clk_i) disable iff (!rst_ni) valid_i && last_i ##1 valid_i);
`endif
endmodule
