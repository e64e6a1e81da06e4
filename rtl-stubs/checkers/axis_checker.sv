// A stream in AXI4-Stream (ARM IHI 0051). The octets of a packet are full beats and a last one, which may be shorter.
module axis_checker #(
  parameter int unsigned DataBytes = 64,
  parameter int unsigned UserBits  = 1,
  parameter bit          Sparse    = 1'b0,  // a beat may have any octets, and none
  parameter int unsigned MostBeats = 0      // of a packet; 0: any number
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   tvalid_i,
  input logic                   tready_i,
  input logic [8*DataBytes-1:0] tdata_i,
  input logic [DataBytes-1:0]   tkeep_i,
  input logic                   tlast_i,
  input logic [UserBits-1:0]    tuser_i
);
  logic [8*DataBytes-1:0] octets;  // what counts of the data
  logic                   reset_q; // at the edge before
  logic [31:0]            beats_q; // of this packet, before the beat that is offered
  always_comb begin
    for (int unsigned i = 0; i < DataBytes; i++) octets[8*i+:8] = tkeep_i[i] ? tdata_i[8*i+:8] : '0;
  end
  always_ff @(posedge clk_i) reset_q <= !rst_ni;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                    beats_q <= '0;
    else if (tvalid_i && tready_i) beats_q <= tlast_i ? '0 : beats_q + 32'd1;
  end

  // Section 2.2.1: once TVALID is asserted it stays, with all that goes with it, until the handshake.
  ValidStays_A       : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && tvalid_i && !tready_i |=> tvalid_i);
  DataStays_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && tvalid_i && !tready_i |=> !tvalid_i || $stable(octets));
  KeepStays_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && tvalid_i && !tready_i |=> !tvalid_i || $stable(tkeep_i));
  LastStays_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && tvalid_i && !tready_i |=> !tvalid_i || $stable(tlast_i));
  UserStays_A        : assert property (@(posedge clk_i) disable iff (!rst_ni) rst_ni && tvalid_i && !tready_i |=> !tvalid_i || $stable(tuser_i));
  // Section 2.8.2: TVALID is low in reset, and rises after an edge out of it at the earliest.
  NotValidInReset_A  : assert property (@(posedge clk_i) !rst_ni |-> !tvalid_i);
  NotValidAtItsEnd_A : assert property (@(posedge clk_i) disable iff (!rst_ni) reset_q |-> !tvalid_i);
  if (!Sparse) begin : gen_packed
    KeepIsOneRun_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i |-> (tkeep_i & (tkeep_i + 1'b1)) == '0);
    KeepIsNotEmpty_A : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i |-> tkeep_i != '0);
    FullBeforeLast_A : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && !tlast_i |-> tkeep_i[DataBytes-1] || tkeep_i == '0);
  end
  if (MostBeats != 0) begin : gen_length
    PacketEnds_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && beats_q >= MostBeats - 1 |-> tlast_i);
  end
`ifdef RNIC_SVA_FULL
  TakenAtLast_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i |-> s_eventually tready_i);
  LastComes_A     : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && tready_i && !tlast_i |-> s_eventually (tvalid_i && tready_i && tlast_i));
  DataIsKnown_A   : assert property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i |-> !$isunknown({octets, tkeep_i, tlast_i}));
  ValidIsKnown_A  : assert property (@(posedge clk_i) disable iff (!rst_ni) !$isunknown({tvalid_i, tready_i}));
  BackToBack_C    : cover property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && tready_i && tlast_i ##1 tvalid_i && tready_i);
  WaitsForReady_C : cover property (@(posedge clk_i) disable iff (!rst_ni) tvalid_i && !tready_i [*3] ##1 tvalid_i && tready_i);
`endif
endmodule
