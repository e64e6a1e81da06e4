// The next octets of a piece of memory that are contiguous on the bus: ContextStore::take. No registers. Pages that are
// adjacent on the bus form one run. A piece is no longer than a ULPDU, so it spans at most 17 of the smallest pages.
module page_run (
  input  rnic_ddp_pkg::memory_piece_t      piece_i,
  input  rnic_messages_pkg::stag_context_t list_i,    // the entry at the index of the piece's list
  output logic                             read_o,    // the piece is in pages
  output logic [31:0]                      index_o,   // of its first page in the page table
  input  logic [17*64-1:0]                 pages_i,   // bus addresses of that page and the following ones in the table
  output logic [63:0]                      address_o,
  output logic [15:0]                      bytes_o
);
  // An address without memory. The page list of a region that is gone resolves to it.
  localparam logic [63:0] Nowhere = 64'h8000_0000_0000_0000;
  localparam int unsigned Pages   = 17;

  logic        paged, lost;
  logic [63:0] number, size, offset, run;
  logic [31:0] behind;  // the list's end in the table
  logic        open;
  always_comb begin
    paged   = piece_i.region != '0;
    number  = piece_i.address >> list_i.log_page;
    lost    = !list_i.valid || list_i.key != piece_i.region[7:0] || number >= 64'(list_i.pages);
    size    = 64'd1 << list_i.log_page;
    offset  = piece_i.address & (size - 64'd1);
    index_o = list_i.first_page + number[31:0];
    behind  = list_i.first_page + list_i.pages;
    read_o  = paged && !lost;

    run  = size - offset;
    open = 1'b1;
    for (int unsigned i = 1; i < Pages; i++) begin
      open = open && run < 64'(piece_i.bytes) && index_o + i < behind && pages_i[64*i+:64] == pages_i[64*(i-1)+:64] + size;
      if (open) run = run + size;
    end

    address_o = !paged ? piece_i.address : lost ? Nowhere : pages_i[63:0] + offset;
    bytes_o   = read_o && run < 64'(piece_i.bytes) ? run[15:0] : piece_i.bytes;
  end
endmodule
