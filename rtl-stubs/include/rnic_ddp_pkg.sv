// The structures that the parts of ddp_placement exchange.
package rnic_ddp_pkg;

  // A DDP segment's headers (RFC 5041 section 4, RFC 5040 section 4.2), as numbers. A field that the segment lacks, or has
  // only in part, means nothing.
  typedef struct packed {
    logic [15:0] bytes;          // of the ULPDU
    logic        is_tagged;
    logic        whole;          // its DDP header is complete
    logic        last;           // L
    logic [1:0]  ddp_version;
    logic [1:0]  rdmap_version;
    logic [3:0]  opcode;
    logic [31:0] stag;           // of the buffer; in an untagged segment, to be invalidated
    logic [63:0] to;
    logic [31:0] qn;
    logic [31:0] msn;
    logic [31:0] mo;
    logic [15:0] payload;        // octets
  } ddp_segment_t;

  parameter int unsigned UlpduLengthBytes    = 2;
  parameter int unsigned TaggedBytes         = 14;
  parameter int unsigned UntaggedBytes       = 18;
  parameter int unsigned ReadRequestBytes    = 28;
  parameter int unsigned AtomicRequestBytes  = 52;
  parameter int unsigned AtomicResponseBytes = 12;
  parameter int unsigned ImmediateBytes      = 8;

  parameter logic [31:0] QnSend = 32'd0, QnRequest = 32'd1, QnTerminate = 32'd2, QnAtomicResponse = 32'd3;

  // The kind of an untagged message, by its opcode.
  typedef struct packed {
    logic        known;        // to this queue pair
    logic        send;
    logic        invalidates;  // a Send with Invalidate
    logic        immediate;
    logic        sized;        // a Read Request, Atomic Request or Atomic Response: no more than `bytes`
    logic [15:0] bytes;        // of these, and of Immediate Data
    logic [31:0] qn;
  } message_kind_t;

  // Octets of host memory in an STag's region: see model/abi/memory_piece.h.
  typedef struct packed {
    logic [63:0] address;  // on the bus; or, with a list, the offset from the start of its first page
    logic [15:0] bytes;    // no more than a ULPDU has
    logic [24:0] page_list;  // first entry in the page table and page size; 0: none
  } memory_piece_t;
  function automatic logic [24:0] list_of(input logic [4:0] log_page, input logic [19:0] first_page);
    list_of = log_page == '0 ? '0 : {first_page, log_page};
  endfunction
  parameter int unsigned MemoryPieceBits = 105;

  // Entries of the STag table for the elements of a scatter list that a segment's payload goes to, in order.
  typedef struct packed {
    logic [2:0]   size;
    logic [143:0] index;  // number n at [24*n +: 24]; 0 beyond the last one
  } stag_list_t;

  // The elements of a scatter list that get octets of a segment.
  typedef struct packed {
    logic [209:0] starts;   // the beginning of element i in the message at [35*i +: 35],
    logic [34:0]  from;     // and of the octets,
    logic [34:0]  to;       // and their end
    logic [5:0]   used;     // elements that get octets,
    stag_list_t   stags;    // the entries of their keys
    logic         too_short;  // the list does not hold them all
  } extent_t;

  // The receive request for the next message of a queue pair: ReceiveRequests::Next.
  typedef enum logic [1:0] {
    RqNone,      // nothing is announced
    RqLost,      // the ring overran
    RqFetching,  // it is announced, but not here yet
    RqThere
  } rq_next_t;

  // A receive request that the end of its stream left unused.
  typedef struct packed {
    logic        valid;  // 0: the QP went away meanwhile
    logic [31:0] qpn;
    logic [63:0] wr_id;
    logic [31:0] epoch;
    logic [31:0] recv_cq;
  } unused_t;

endpackage
