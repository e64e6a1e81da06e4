// The pieces of memory that the octets [offset, offset + bytes) of a Send go to, by its receive request. No registers.
module scatter_list #(
  parameter int unsigned Elements = 32'(rnic_messages_pkg::MaxSge)
) (
  input  rnic_messages_pkg::receive_wqe_t wqe_i,
  input  logic [31:0]                     pd_i,
  input  logic [31:0]                     offset_i,
  input  logic [15:0]                     bytes_i,
  input  logic [Elements*rnic_messages_pkg::StagContextBits-1:0] stags_i,  // the entries of the elements' keys
  output logic [Elements-1:0]                                    use_o,    // elements that get octets,
  output logic [Elements*rnic_ddp_pkg::MemoryPieceBits-1:0]      pieces_o, // and where
  output logic                                                   long_o,   // the list does not hold them all
  output logic                                                   error_o   // some of the memory may not be written
);
  // The beginning of each element in the message, and the end of the last one.
  logic [35*Elements-1:0] starts;
  logic [34:0]            total, from, to;
  always_comb begin
    total = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      starts[35*i+:35] = total;
      if (i < 32'(wqe_i.num_sge)) total = total + 35'(wqe_i.sge[128*i+32+:32]);
    end
    from   = 35'(offset_i);
    to     = from + 35'(bytes_i);
    long_o = to > total;
  end

  logic [Elements-1:0] bad;
  for (genvar i = 0; i < Elements; i++) begin : gen_element
    scatter_element u_element (
      .sge_i  (wqe_i.sge[128*i+:128]),
      .stag_i (stags_i[rnic_messages_pkg::StagContextBits*i+:rnic_messages_pkg::StagContextBits]),
      .pd_i,
      .start_i(starts[35*i+:35]),
      .from_i (from),
      .to_i   (to),
      .use_o  (use_o[i]),
      .piece_o(pieces_o[rnic_ddp_pkg::MemoryPieceBits*i+:rnic_ddp_pkg::MemoryPieceBits]),
      .bad_o  (bad[i])
    );
  end
  assign error_o = (use_o & bad) != '0;
endmodule
