// Reads the entries of what a peer's STag names, of one STag at a time: the twin of NamedStag. A window's region is asked for
// when the window is there. The table is outside: a row comes some cycles after its ask, and is in front until it is dropped.
module named_stag (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        wanted_i,        // an entry is needed
  output logic        there_o,         // and all that it needs is there
  input  logic        used_i,          // at this edge, with what is there
  input  logic        forget_i,        // from this edge on it is not needed: rows are dropped when they come
  input  logic        window_i,        // the entry that is there is a window, of the region at
  input  logic [23:0] region_index_i,
  input  logic        entry_ready_i,   // a row can be asked for
  output logic        entry_ask_o,
  input  logic        entry_valid_i,   // a row is there
  output logic        entry_drop_o,
  input  logic        region_ready_i,
  output logic        region_ask_o,
  input  logic        region_valid_i,  // a row is there, this one:
  input  logic [23:0] region_row_i,
  output logic        region_drop_o
);
  logic asked_d, asked_q, region_d, region_q;  // asked for and not dropped
  logic [7:0] entries_d, entries_q, regions_d, regions_q;  // forgotten, to be dropped
  logic entry_here, entry, region, window, stale, waits;
  assign entry_here    = entry_valid_i && entries_q == '0;
  assign entry         = asked_q && entry_here;
  assign region        = region_valid_i && regions_q == '0;
  assign window        = entry && window_i;
  assign stale         = region_q && region && (!window || region_row_i != region_index_i);  // bound again meanwhile
  assign waits         = region_q && !stale;
  assign there_o       = !asked_q ? !wanted_i : entry && (window ? waits && region : !waits);
  assign entry_ask_o   = wanted_i && !asked_q && entry_ready_i && !forget_i;
  assign entry_drop_o  = (entry_valid_i && !entry_here) || (asked_q && used_i);
  assign region_ask_o  = window && !waits && region_ready_i;
  assign region_drop_o = (region_valid_i && !region) || stale || (waits && used_i);
  assign asked_d       = entry_ask_o || (asked_q && !used_i && !forget_i);
  assign region_d      = (region_ask_o || (waits && !used_i)) && !forget_i;
  assign entries_d     = entries_q - 8'(entry_valid_i && !entry_here) + 8'(forget_i && asked_q);
  assign regions_d     = regions_q - 8'(region_valid_i && !region) + 8'(forget_i && (region_ask_o || waits));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q   <= 1'b0;
      region_q  <= 1'b0;
      entries_q <= '0;
      regions_q <= '0;
    end else begin
      asked_q   <= asked_d;
      region_q  <= region_d;
      entries_q <= entries_d;
      regions_q <= regions_d;
    end
  end

  // What tests have to reach.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      UsedWhenThere_A : assert (!used_i || there_o);
      OtherRegion_C   : cover (stale);
    end
  end
endmodule
