// Which elements of a scatter list the octets [offset, offset + bytes) of a Send go to. No registers.
module scatter_extent #(
  parameter int unsigned Elements = 32'(rnic_messages_pkg::MaxSge)
) (
  input  rnic_messages_pkg::receive_wqe_t wqe_i,
  input  logic [31:0]                     offset_i,
  input  logic [15:0]                     bytes_i,
  output rnic_ddp_pkg::extent_t           extent_o
);
  logic [34:0] total, start, end_of_element, first, behind;
  always_comb begin
    extent_o      = '0;
    extent_o.from = 35'(offset_i);
    extent_o.to   = extent_o.from + 35'(bytes_i);
    total         = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      start                     = total;
      end_of_element            = start + 35'(wqe_i.sge[128*i+32+:32]);
      first                     = extent_o.from > start ? extent_o.from : start;
      behind                    = extent_o.to < end_of_element ? extent_o.to : end_of_element;
      extent_o.starts[35*i+:35] = start;
      if (i < 32'(wqe_i.num_sge)) begin
        total            = end_of_element;
        extent_o.used[i] = first < behind;
      end
      if (extent_o.used[i]) begin
        extent_o.stags.index[24*32'(extent_o.stags.size)+:24] = wqe_i.sge[128*i+8+:24];
        extent_o.stags.size                                   = extent_o.stags.size + 3'd1;
      end
    end
    extent_o.too_short = extent_o.to > total;
  end
endmodule
