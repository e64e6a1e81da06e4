// Resolves a peer's STag to the bus address of its octets: the twin of ContextStore::named, of StagContext::contains
// and piece, and of place_of. Combinational. The tables are outside and give the entry of an index in the same cycle;
// an index beyond the table gives an invalid entry, or a page that is nowhere. Each lookup may need the one before.
module stag_target #(
  parameter int unsigned Bytes = 8               // of the target
) (
  input  logic [31:0]                      stag_i,
  input  logic [63:0]                      to_i,            // tagged offset
  output logic [23:0]                      entry_index_o,
  input  rnic_messages_pkg::stag_context_t entry_i,
  output logic [23:0]                      region_index_o,  // of a window's region; a region is its own
  input  rnic_messages_pkg::stag_context_t region_i,
  output logic                             paged_o,         // in the pages of the region's list
  output logic [31:0]                      page_index_o,    // its entry of the page table
  input  logic [63:0]                      page_i,
  output logic                             named_o,
  output logic                             contains_o,
  output logic [2:0]                       low_o,           // of the address: pages are aligned
  output logic [63:0]                      address_o        // of the first octet, if contains_o
);
  // A window is only as valid as its region.
  logic        is_region, region_named;
  logic [31:0] region;
  assign entry_index_o  = stag_i[31:8];
  assign is_region      = entry_i.kind == rnic_messages_pkg::StagRegion;
  assign region         = is_region ? stag_i : entry_i.region;
  assign region_index_o = region[31:8];
  assign region_named   = region_i.valid && region_i.key == region[7:0];
  assign named_o        = entry_i.valid && entry_i.key == stag_i[7:0] && (is_region || region_named);

  logic [63:0] base, offset;
  assign base       = entry_i.zero_based ? '0 : entry_i.address;
  assign offset     = to_i - base;
  assign contains_o = to_i >= base && entry_i.length >= 64'(Bytes) && offset <= entry_i.length - 64'(Bytes);

  // Contiguous on the bus, or in the pages of the region's list, which a window has as well.
  logic [63:0] place, page, in_page;
  assign place        = entry_i.bus + offset;
  assign page         = place >> entry_i.log_page;
  assign in_page      = place & ~(~64'd0 << entry_i.log_page);
  assign paged_o      = entry_i.log_page != 0;
  assign page_index_o = 32'(entry_i.first_page[19:0]) + page[31:0];
  assign low_o        = place[2:0];
  assign address_o    = !paged_o ? place : page_i + in_page;
endmodule
