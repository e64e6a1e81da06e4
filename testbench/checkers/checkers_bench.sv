// Each property of rtl-stubs/checkers fails for a stimulus of its own, +case=PLACE.PROPERTY, and no other property with it; +case=good
// breaks none. checkers_test.py runs the cases. Pins that no case needs are open: they are 0.
module checkers_bench;
  import rnic_stream_pkg::*;
  import rnic_messages_pkg::*;

  string name;
  logic  clk_i = 1'b0, rst_ni = 1'b0;
  always #2 clk_i = !clk_i;

  // Ends cycles; the pins change behind the edge.
  task automatic edges(input int unsigned count = 1);
    repeat (count) @(posedge clk_i);
    #1;
  endtask
  task automatic in_reset;
    rst_ni = 1'b0;
    edges();
    rst_ni = 1'b1;
  endtask

  // Credit: a message that is valid with its launch, two cycles after it, or whenever it likes.
  logic quiet, ready, now_launch, now_valid, due_launch, due_valid, late_launch, late_valid;
  credit_checker u_now (.clk_i, .rst_ni, .quiet_i(quiet), .ready_i(ready), .launch_i(now_launch), .valid_i(now_valid));
  credit_checker #(.Cycles(2)) u_due (.clk_i, .rst_ni, .quiet_i(quiet), .ready_i(1'b1), .launch_i(due_launch), .valid_i(due_valid));
  credit_checker #(.Cycles(1), .Elastic(1'b1)) u_late (
    .clk_i, .rst_ni, .quiet_i(quiet), .ready_i(1'b1), .launch_i(late_launch), .valid_i(late_valid)
  );
  task automatic launch_now(input logic valid = 1'b1);
    now_launch = 1'b1; now_valid = valid; edges(); now_launch = 1'b0; now_valid = 1'b0;
  endtask
  task automatic credit_cases;
    case (name)
      "good": begin
        ready = 1'b1; launch_now();
        due_launch = 1'b1; late_launch = 1'b1; edges(); due_launch = 1'b0; late_launch = 1'b0; edges();
        due_valid = 1'b1; edges(); due_valid = 1'b0; edges(3);
        late_valid = 1'b1; edges(); late_valid = 1'b0;
        due_launch = 1'b1; edges(); due_launch = 1'b0; ready = 1'b0; in_reset(); edges(3);  // it is gone, and so is the credit
      end
      "u_now.LaunchHasCredit_A": launch_now();
      "u_now.CreditStays_A": begin ready = 1'b1; edges(); ready = 1'b0; edges(); end
      "u_now.NoLaunchInReset_A": begin quiet = 1'b1; now_launch = 1'b1; in_reset(); now_launch = 1'b0; end
      "u_now.LeavesWhenDue_A": begin ready = 1'b1; launch_now(.valid(1'b0)); end
      "u_now.LeavesOnlyWhenDue_A": begin now_valid = 1'b1; edges(); now_valid = 1'b0; end
      "u_due.LeavesWhenDue_A": begin ready = 1'b1; due_launch = 1'b1; edges(); due_launch = 1'b0; edges(3); end
      "u_due.LeavesOnlyWhenDue_A": begin due_valid = 1'b1; edges(); due_valid = 1'b0; end
      "u_due.NotValidInReset_A": begin due_valid = 1'b1; in_reset(); due_valid = 1'b0; end
      "u_late.LeavesAfterItsLaunch_A": begin late_valid = 1'b1; edges(); late_valid = 1'b0; end
      default: ;
    endcase
  endtask

  // Offers, rows of tables, and what passes through.
  logic       offered, taken, may_ask, asks, there, drops, comes, leaves;
  logic [7:0] message;
  offer_checker #(.Width(8)) u_offer (.clk_i, .rst_ni, .valid_i(offered), .ready_i(taken), .message_i(message));
  row_checker u_row (.clk_i, .rst_ni, .ready_i(may_ask), .ask_i(asks), .valid_i(there), .drop_i(drops));
  through_checker #(.Most(2)) u_through (.clk_i, .rst_ni, .in_i(comes), .out_i(leaves));
  task automatic ask(input logic may = 1'b1);
    may_ask = may; asks = 1'b1; edges(); may_ask = 1'b0; asks = 1'b0;
  endtask
  task automatic drop(input logic valid = 1'b1);
    there = valid; drops = 1'b1; edges(); there = 1'b0; drops = 1'b0;
  endtask
  task automatic offer_cases;
    case (name)
      "good": begin
        offered = 1'b1; message = 8'd5; edges(3); taken = 1'b1; edges(); message = 8'd6; edges(); taken = 1'b0; edges();
        offered = 1'b0; in_reset(); edges();  // what was offered is gone
        ask(); ask(); there = 1'b1; edges(2); drop(); drop(); ask(); in_reset();
        comes = 1'b1; edges(2); leaves = 1'b1; edges(); comes = 1'b0; edges(2); comes = 1'b1; edges(); comes = 1'b0; leaves = 1'b0;
      end
      "u_offer.OfferStays_A": begin offered = 1'b1; edges(); offered = 1'b0; edges(); end
      "u_offer.OfferUnchanged_A": begin offered = 1'b1; edges(); message = 8'd6; edges(); taken = 1'b1; edges(); offered = 1'b0; taken = 1'b0; end
      "u_row.AsksWhenItMay_A": begin ask(.may(1'b0)); drop(); end
      "u_row.DropsWhatIsThere_A": begin ask(); drop(.valid(1'b0)); end
      "u_row.RowWasAskedFor_A": drop();
      "u_row.RowStays_A": begin ask(); there = 1'b1; edges(); there = 1'b0; edges(); end
      "u_through.NothingFromNothing_A": begin leaves = 1'b1; edges(); leaves = 1'b0; end
      "u_through.WithinItsPlaces_A": begin comes = 1'b1; edges(3); comes = 1'b0; end
      default: ;
    endcase
  endtask

  // Beats of FPDUs as a receiver has them, with markers beside the words, and as a framer gives them.
  logic        rx_take, tx_take;
  fpdu_beat_t  beat;
  logic [15:0] octets;
  fpdu_checker #(.BeatBytes(16), .Beside(1'b1), .Lengths(1'b1)) u_rx_fpdus (
    .clk_i, .rst_ni, .take_i(rx_take), .beat_i(beat), .octets_i(octets)
  );
  fpdu_checker #(.BeatBytes(16), .Starts(1'b1)) u_tx_fpdus (.clk_i, .rst_ni, .take_i(tx_take), .beat_i(beat), .octets_i(octets));
  // A beat of flow 7; the length field says that the FPDU has as many words.
  function automatic fpdu_beat_t beat_of(input logic first, input logic last, input int unsigned words);
    beat_of       = '0;
    beat_of.flow  = 32'd7;
    beat_of.first = first;
    beat_of.last  = last;
    beat_of.words = 6'(words);
  endfunction
  task automatic rx(input int unsigned words_in_all = 0);
    if (words_in_all != 0) octets = {8'(4 * words_in_all - 6), 8'd0};
    rx_take = 1'b1; edges(); rx_take = 1'b0;
  endtask
  task automatic tx;
    tx_take = 1'b1; edges(); tx_take = 1'b0;
  endtask
  task automatic fpdu_cases;
    beat = beat_of(1'b1, 1'b1, 3);
    case (name)
      "good": begin
        rx(3);
        beat = beat_of(1'b1, 1'b0, 4); beat.marker_valid = 1'b1; beat.marker_lane = 5'd3; rx(5);
        beat = beat_of(1'b0, 1'b1, 1); rx();
        beat = beat_of(1'b1, 1'b1, 4); beat.placed = 1'b1; rx(9);
        beat = beat_of(1'b1, 1'b1, 1); beat.ends = 1'b1; rx(9);
        beat = beat_of(1'b1, 1'b0, 4); rx(8); in_reset();  // in its middle
        beat = beat_of(1'b1, 1'b0, 4); beat.marker = 32'h8000_01fc; tx();
        beat = beat_of(1'b0, 1'b1, 2); beat.completes_wqe = 1'b1; tx();
      end
      "u_rx_fpdus.FirstAndLastAlternate_A": begin beat = beat_of(1'b1, 1'b0, 4); rx(5); beat = beat_of(1'b1, 1'b1, 3); rx(3); end
      "u_rx_fpdus.WordsInRange_A": begin beat = beat_of(1'b1, 1'b1, 5); rx(5); end
      "u_rx_fpdus.FullBeforeLast_A": begin beat = beat_of(1'b1, 1'b0, 3); rx(5); beat = beat_of(1'b0, 1'b1, 2); rx(); end
      "u_rx_fpdus.OneFlow_A": begin beat = beat_of(1'b1, 1'b0, 4); rx(5); beat = beat_of(1'b0, 1'b1, 1); beat.flow = 32'd8; rx(); end
      "u_rx_fpdus.OneKind_A": begin beat = beat_of(1'b1, 1'b0, 4); rx(5); beat = beat_of(1'b0, 1'b1, 1); beat.crc_on = 1'b1; rx(); end
      "u_rx_fpdus.CompletesWithItsLast_A": begin
        beat = beat_of(1'b1, 1'b0, 4); beat.completes_wqe = 1'b1; rx(5); beat = beat_of(1'b0, 1'b1, 1); rx();
      end
      "u_rx_fpdus.OneBeat_A": begin beat = beat_of(1'b1, 1'b0, 4); beat.placed = 1'b1; rx(9); in_reset(); end
      "u_rx_fpdus.EndIsAWord_A": begin beat.ends = 1'b1; rx(9); end
      "u_rx_fpdus.LaneInBeat_A": begin beat.marker_valid = 1'b1; beat.marker_lane = 5'd3; rx(3); end
      "u_rx_fpdus.MarkersAreOfFpdus_A": begin beat.marker_valid = 1'b1; beat.placed = 1'b1; rx(3); end
      "u_rx_fpdus.LengthOfItsField_A": rx(4);
      "u_tx_fpdus.NoMarkerBeside_A": begin beat.marker_valid = 1'b1; tx(); end
      "u_tx_fpdus.StartsOnAWord_A": begin beat.marker = 32'h8000_0102; tx(); end
      "u_tx_fpdus.StartInTheFirst_A": begin beat = beat_of(1'b1, 1'b0, 4); tx(); beat = beat_of(1'b0, 1'b1, 2); beat.marker = 32'd4; tx(); end
      default: ;
    endcase
  endtask

  // A link of two places, latency 1 and credit latency 1, played by the case.
  logic       l_ready, l_launch, l_come, l_shown, l_take;
  logic [7:0] l_beat;
  link_checker #(.Width(8)) u_link (
    .clk_i, .rst_ni, .in_ready_o(l_ready), .in_launch_i(l_launch), .in_valid_i(l_come), .out_valid_o(l_shown), .out_o(l_beat),
    .out_ready_i(l_take)
  );
  task automatic link_launch(input logic ready_behind = 1'b1);
    l_launch = 1'b1; l_come = 1'b1; edges(); l_launch = 1'b0; l_come = 1'b0; l_ready = ready_behind; l_shown = 1'b1;
  endtask
  task automatic link_take(input logic more = 1'b0);
    l_take = 1'b1; edges(); l_take = 1'b0; l_shown = more; l_ready = 1'b1;
  endtask
  task automatic link_cases;
    case (name)
      "good": begin link_launch(); link_launch(.ready_behind(1'b0)); edges(2); link_take(.more(1'b1)); l_beat = 8'd1; link_take(); end
      "u_link.LaunchHasCredit_A": begin
        link_launch(); link_launch(.ready_behind(1'b0)); link_launch(.ready_behind(1'b0));  // three credits of two
      end
      "u_link.CreditsWithinDepth_A": begin link_launch(); link_launch(); edges(); end
      "u_link.CreditComesInTime_A": begin l_ready = 1'b0; edges(); l_ready = 1'b1; end
      "u_link.BeatWasLaunched_A": begin l_come = 1'b1; edges(); l_come = 1'b0; l_shown = 1'b1; edges(); end
      "u_link.ShownInItsCycle_A": begin link_launch(); l_shown = 1'b0; edges(); end
      "u_link.NothingFromNothing_A": begin l_shown = 1'b1; edges(); end
      "u_link.StableUntilTaken_A": begin link_launch(); edges(); l_beat = 8'd9; edges(); end
      "u_link.NotValidInReset_A": begin l_shown = 1'b1; in_reset(); end
      default: ;
    endcase
    l_shown = 1'b0; l_ready = 1'b1; in_reset(); edges();
  endtask

  // AXI4-Stream of 4 octets and at most three beats.
  logic        a_valid, a_ready, a_last, a_user;
  logic [31:0] a_data;
  logic [3:0]  a_keep;
  axis_checker #(.DataBytes(4), .MostBeats(3)) u_axis (
    .clk_i, .rst_ni, .tvalid_i(a_valid), .tready_i(a_ready), .tdata_i(a_data), .tkeep_i(a_keep), .tlast_i(a_last), .tuser_i(a_user)
  );
  task automatic axis(input logic [3:0] keep, input logic last = 1'b1);
    a_valid = 1'b1; a_ready = 1'b1; a_keep = keep; a_last = last; edges(); a_valid = 1'b0; a_ready = 1'b0;
  endtask
  task automatic axis_waits;
    a_valid = 1'b1; a_keep = 4'b0011; a_last = 1'b1; edges();
  endtask
  task automatic axis_cases;
    case (name)
      "good": begin
        axis(4'b1111, .last(1'b0)); axis(4'b1111, .last(1'b0)); axis(4'b0001);
        axis_waits(); a_data = 32'hffff_0000; edges();  // octets that do not count
        axis(4'b0011);
      end
      "u_axis.ValidStays_A": begin axis_waits(); a_valid = 1'b0; edges(); end
      "u_axis.DataStays_A": begin axis_waits(); a_data = 32'd1; edges(); axis(4'b0011); end
      "u_axis.KeepStays_A": begin axis_waits(); axis(4'b0111); end
      "u_axis.LastStays_A": begin a_valid = 1'b1; a_keep = 4'b1111; edges(); axis(4'b1111); end
      "u_axis.UserStays_A": begin axis_waits(); a_user = 1'b1; edges(); axis(4'b0011); end
      "u_axis.NotValidInReset_A": begin a_valid = 1'b1; a_keep = 4'b0001; a_last = 1'b1; in_reset(); a_valid = 1'b0; end
      "u_axis.NotValidAtItsEnd_A": begin in_reset(); axis(4'b0001); end
      "u_axis.KeepIsOneRun_A": axis(4'b0101);
      "u_axis.KeepIsNotEmpty_A": axis(4'b0000);
      "u_axis.FullBeforeLast_A": begin axis(4'b0011, .last(1'b0)); axis(4'b1111); end
      "u_axis.PacketEnds_A": begin axis(4'b1111, .last(1'b0)); axis(4'b1111, .last(1'b0)); axis(4'b1111, .last(1'b0)); in_reset(); end
      default: ;
    endcase
  endtask

  // Frames in beats of 16 octets, on a line.
  logic         e_valid, e_last;
  logic [127:0] e_data;
  logic [15:0]  e_keep;
  ethernet_checker #(.DataBytes(16), .MaxFrame(100), .Gap(24)) u_ethernet (
    .clk_i, .rst_ni, .valid_i(e_valid), .data_i(e_data), .keep_i(e_keep), .last_i(e_last)
  );
  task automatic frame(input int unsigned octets, input logic [15:0] kind = 16'h0800, input logic [7:0] source = 8'h00);
    e_data = 128'({kind[7:0], kind[15:8]}) << (8 * 12) | 128'(source) << (8 * 6);
    for (int unsigned left = octets; left != 0; left = left > 16 ? left - 16 : 0) begin
      e_valid = 1'b1; e_last = left <= 16; e_keep = left < 16 ? 16'((1 << left) - 1) : '1; edges();
    end
    e_valid = 1'b0; e_last = 1'b0;
  endtask
  task automatic ethernet_cases;
    case (name)
      "good": begin frame(60); edges(2); frame(96); edges(2); frame(66, .kind(16'd46)); edges(2); end
      "u_ethernet.NotValidInReset_A": begin e_valid = 1'b1; in_reset(); e_valid = 1'b0; end
      "u_ethernet.KeepIsOneRun_A": begin
        frame(64); edges(2); e_valid = 1'b1; e_keep = '1; edges(4); e_keep = 16'h0005; e_last = 1'b1; edges(); e_valid = 1'b0;
      end
      "u_ethernet.FullBeforeLast_A": begin e_valid = 1'b1; e_keep = '1; edges(3); e_keep = 16'h0fff; edges(); e_last = 1'b1; edges(); e_valid = 1'b0; end
      "u_ethernet.LongEnough_A": frame(59);
      "u_ethernet.ShortEnough_A": frame(97);
      "u_ethernet.SourceIsOneHost_A": frame(60, .source(8'h01));
      "u_ethernet.KindIsAssigned_A": frame(60, .kind(16'd1501));
      "u_ethernet.NoHole_A": begin
        e_data = 128'h0008 << 96; e_valid = 1'b1; e_keep = '1; edges(2); e_valid = 1'b0; edges(); e_valid = 1'b1; edges(); e_last = 1'b1; edges();
        e_valid = 1'b0;
      end
      "u_ethernet.GapIsLongEnough_A": begin frame(64); edges(1); frame(64); end
      default: ;
    endcase
  endtask

  // TLPs in beats of 16 octets: a device's requests, and the completions for them.
  logic         o_valid, o_last, i_valid, i_last;
  logic [127:0] t_data;
  logic [15:0]  t_keep;
  tlp_checker #(.DataBytes(16), .MaxPayload(128), .MaxReadRequest(256), .TagBits(5)) u_tlp (
    .clk_i, .rst_ni,
    .out_tvalid_i(o_valid), .out_tready_i(1'b1), .out_tdata_i(t_data), .out_tkeep_i(t_keep), .out_tlast_i(o_last),
    .in_tvalid_i(i_valid), .in_tready_i(1'b1), .in_tdata_i(t_data), .in_tkeep_i(t_keep), .in_tlast_i(i_last)
  );
  // Sends a TLP of so many double words whose header has these first four, each in the order of the wire.
  task automatic tlp(input logic from_device, input logic [31:0] dw0, input logic [31:0] dw1, input logic [31:0] dw2, input logic [31:0] dw3,
                     input int unsigned words, input logic [15:0] more = '0);
    t_data = {<<8{dw0, dw1, dw2, dw3}};
    for (int unsigned left = words; left != 0; left = left > 4 ? left - 4 : 0) begin
      o_valid = from_device; i_valid = !from_device;
      o_last = left <= 4; i_last = left <= 4; t_keep = left < 4 ? 16'((1 << (4 * left)) - 1) | more : '1; edges();
    end
    o_valid = 1'b0; i_valid = 1'b0;
  endtask
  // Memory read: double words, tag, byte enables (last, first), address.
  task automatic read(input logic [9:0] length, input logic [7:0] tag, input logic [7:0] enables = 8'hff, input logic [31:0] address = 32'h1000);
    tlp(1'b1, {22'd0, length}, {16'd0, tag, enables}, address, 32'd0, 3);
  endtask
  task automatic completion(input logic [9:0] length, input logic [11:0] count, input logic [7:0] tag, input logic [2:0] status = 3'd0,
                            input logic [6:0] low = 7'd0);
    tlp(1'b0, {length == '0 ? 8'h0a : 8'h4a, 14'd0, length}, {16'd0, status, 1'b0, count}, {16'd0, tag, 1'b0, low}, 32'd0, 3 + 32'(length));
  endtask
  task automatic tlp_cases;
    case (name)
      "good": begin
        read(10'd32, 8'd3); completion(10'd16, 12'd128, 8'd3); completion(10'd16, 12'd64, 8'd3);  // in two
        read(10'd2, 8'd3, .enables(8'h3c), .address(32'h1ff8)); completion(10'd2, 12'd4, 8'd3, .low(7'h7a));
        read(10'd1, 8'd31, .enables(8'h00)); completion(10'd1, 12'd1, 8'd31);
        read(10'd64, 8'd4, .address(32'h1f00)); completion(10'd0, 12'd256, 8'd4, .status(3'd1));  // refused
        tlp(1'b1, 32'h6000_0020, 32'h0000_00ff, 32'h0000_0001, 32'h0000_0f80, 36);  // a write of 128 octets above 4 GiB, to a multiple of 4 KiB
        tlp(1'b1, 32'h4000_8001, 32'h0000_000f, 32'hfee0_0000, 32'd0, 5);           // of 4, with digest
      end
      "u_tlp.u_out.TypeIsAssigned_A": tlp(1'b1, 32'h1f00_0001, 32'h0000_000f, 32'h1000, 32'd0, 3);
      "u_tlp.u_out.WholeWords_A": tlp(1'b1, 32'h0000_0001, 32'h0000_000f, 32'h1000, 32'd0, 3, .more(16'h1000));
      "u_tlp.u_out.LengthOfItsHeader_A": tlp(1'b1, 32'h4000_0001, 32'h0000_000f, 32'h1000, 32'd0, 5);
      "u_tlp.u_out.WithinMps_A": tlp(1'b1, 32'h4000_0021, 32'h0000_00ff, 32'h1000, 32'd0, 36);
      "u_tlp.u_out.WithinMrrs_A": read(10'd65, 8'd1);
      "u_tlp.u_out.Within4KiB_A": read(10'd2, 8'd1, .address(32'h1ffc));
      "u_tlp.u_out.ShortHeader_A": tlp(1'b1, 32'h2000_0001, 32'h0000_010f, 32'd0, 32'h1000, 4);
      "u_tlp.u_out.ByteEnables_A": read(10'd1, 8'd1, .enables(8'hff));
      "u_tlp.u_in.DataIfGood_A": begin read(10'd1, 8'd1, .enables(8'h0f)); completion(10'd1, 12'd4, 8'd1, .status(3'd1)); end
      "u_tlp.u_in.WithinByteCount_A": begin read(10'd1, 8'd1, .enables(8'h0f)); completion(10'd3, 12'd4, 8'd1); end
      "u_tlp.TagInRange_A": read(10'd1, 8'd32, .enables(8'h0f));
      "u_tlp.TagIsFree_A": begin read(10'd1, 8'd5, .enables(8'h0f)); read(10'd1, 8'd5, .enables(8'h0f)); end
      "u_tlp.TagWasAsked_A": completion(10'd1, 12'd4, 8'd5);
      "u_tlp.ByteCountIsLeft_A": begin read(10'd2, 8'd5); completion(10'd1, 12'd4, 8'd5); end
      default: ;
    endcase
  endtask

`include "blocks_cases.svh"

  initial begin
    if (!$value$plusargs("case=%s", name)) $fatal(1, "no +case");
    l_ready = 1'b1;
    p_room = 1'b1;
    edges(2);
    rst_ni = 1'b1;
    edges(2);
    credit_cases();
    offer_cases();
    fpdu_cases();
    link_cases();
    axis_cases();
    ethernet_cases();
    tlp_cases();
    block_cases();
    edges(2);
    $display("done");
    $finish;
  end
endmodule
