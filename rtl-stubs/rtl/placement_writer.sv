// The segment under way in ddp_placement. Its pieces leave, one write a cycle; its record
// leaves with the last one. Without a segment, an unused receive request leaves.
module placement_writer #(
  parameter int unsigned Elements = 32'(rnic_messages_pkg::MaxSge)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // The next segment begins at this edge.
  output logic                                  free_o,
  input  logic                                  begin_i,
  input  rnic_messages_pkg::placed_segment_t    record_i,
  input  logic [Elements-1:0]                   use_i,
  input  logic [Elements*rnic_ddp_pkg::MemoryPieceBits-1:0] pieces_i,
  input  logic [31:0]                           offset_i,  // of its payload in the buffer
  input  logic                                  unused_valid_i,
  output logic                                  unused_take_o,
  input  rnic_ddp_pkg::unused_t                 unused_i,
  input  logic                                  dma_ready_i,
  output logic                                  dma_valid_o,
  output rnic_messages_pkg::dma_write_request_t dma_o,
  input  logic                                  out_ready_i,
  output logic                                  out_valid_o,
  output rnic_messages_pkg::placed_segment_t    out_o
);
  localparam int unsigned Bits = rnic_ddp_pkg::MemoryPieceBits;

  logic                               busy_d, busy_q;
  rnic_messages_pkg::placed_segment_t record_q;
  logic [Elements-1:0]                left_d, left_q;  // pieces still to be written
  logic [Elements*Bits-1:0]           pieces_q;
  logic [31:0]                        offset_d, offset_q;

  // The first piece that is left.
  rnic_ddp_pkg::memory_piece_t piece;
  logic [Elements-1:0]         first, left;
  always_comb begin
    first = left_q & ~(left_q - 1'b1);
    piece = '0;
    for (int unsigned i = 0; i < Elements; i++) begin
      if (first[i]) piece = pieces_q[Bits*i+:Bits];
    end
  end

  logic done;  // the segment is finished at this edge
  assign dma_valid_o   = left_q != '0 && dma_ready_i;
  assign left          = dma_valid_o ? left_q & ~first : left_q;
  assign done          = busy_q && left == '0 && out_ready_i;
  assign free_o        = !busy_q || done;
  assign unused_take_o = !busy_q && unused_valid_i && out_ready_i;
  assign out_valid_o   = done || (unused_take_o && unused_i.valid);
  always_comb begin
    dma_o            = '0;
    dma_o.address    = piece.address;
    dma_o.bytes      = 32'(piece.bytes);
    dma_o.src_offset = offset_q;
    dma_o.notify     = left == '0;
    dma_o.page_list  = piece.page_list;

    out_o = record_q;
    if (!busy_q) begin
      out_o         = '0;
      out_o.opcode  = rnic_messages_pkg::OpSend;
      out_o.flushed = 1'b1;
      out_o.qpn     = unused_i.qpn;
      out_o.wr_id   = unused_i.wr_id;
      out_o.epoch   = unused_i.epoch;
      out_o.recv_cq = unused_i.recv_cq;
    end
  end

  always_comb begin
    busy_d   = begin_i || (busy_q && !done);
    left_d   = begin_i ? use_i : left;
    offset_d = begin_i ? offset_i : dma_valid_o ? offset_q + 32'(piece.bytes) : offset_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      left_q <= '0;
    end else begin
      busy_q <= busy_d;
      left_q <= left_d;
      NothingLeft_A : assert (busy_q || left_q == '0);
      OneAtATime_A  : assert (!begin_i || free_o);
    end
  end
  always_ff @(posedge clk_i) begin
    offset_q <= offset_d;
    if (begin_i) begin
      record_q <= record_i;
      pieces_q <= pieces_i;
    end
  end
endmodule
