// The pieces of memory that the octets [offset, offset + bytes) of a Send go to, by its receive request. No registers.
module scatter_list #(
  parameter int unsigned Elements = 32'(rnic_messages_pkg::MaxSge)
) (
  input  rnic_messages_pkg::receive_wqe_t wqe_i,
  input  logic [31:0]                     pd_i,
  input  logic [31:0]                     offset_i,
  input  logic [15:0]                     bytes_i,
  output rnic_ddp_pkg::stag_list_t        list_o,    // the indexes of the keys of the elements that get octets;
  input  logic [Elements*rnic_messages_pkg::StagContextBits-1:0] stags_i,  // their entries, in the same order
  output logic [Elements-1:0]                                    use_o,    // elements that get octets,
  output logic [Elements*rnic_ddp_pkg::MemoryPieceBits-1:0]      pieces_o, // and where
  output logic                                                   long_o,   // the list does not hold them all
  output logic                                                   error_o   // some of the memory may not be written
);
  localparam int unsigned Bits = rnic_messages_pkg::StagContextBits;

  rnic_ddp_pkg::extent_t extent;
  scatter_extent #(.Elements(Elements)) u_extent (
    .wqe_i,
    .offset_i,
    .bytes_i,
    .extent_o(extent)
  );
  assign use_o  = extent.used;
  assign list_o = extent.stags;
  assign long_o = extent.too_short;

  logic [2:0]               row;  
  logic [Elements*Bits-1:0] stags;  // by element
  always_comb begin
    row = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      stags[Bits*i+:Bits] = stags_i[Bits*32'(row)+:Bits];
      if (use_o[i]) row = row + 3'd1;
    end
  end

  logic [Elements-1:0] bad;
  for (genvar i = 0; i < Elements; i++) begin : gen_element
    scatter_element u_element (
      .sge_i  (wqe_i.sge[128*i+:128]),
      .stag_i (stags[Bits*i+:Bits]),
      .pd_i,
      .start_i(extent.starts[35*i+:35]),
      .from_i (extent.from),
      .to_i   (extent.to),
      .piece_o(pieces_o[rnic_ddp_pkg::MemoryPieceBits*i+:rnic_ddp_pkg::MemoryPieceBits]),
      .bad_o  (bad[i])
    );
  end
  assign error_o = (use_o & bad) != '0;
endmodule
