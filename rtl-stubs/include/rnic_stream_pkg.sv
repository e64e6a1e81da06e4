// The datapath's beats as bits: the fields of model/rnic/beat.h but for the octets, which have a port of their own, as
// wide as the datapath. Octet i of a beat is data[8*i +: 8]. The first field is the most significant one.
package rnic_stream_pkg;

  // A marker that was taken out stood before word marker_lane.
  typedef struct packed {
    logic        ends;          // receive: the peer's FIN, behind the last FPDU; marker_ok: not amid an FPDU
    logic        placed;        // receive: the FPDU's one beat is length field and DDP header; the payload is placed
    logic [31:0] marker;        // octet i at [8*i +: 8], as on the wire
    logic [31:0] flow;
    logic [5:0]  words;         // 1 to the datapath's width
    logic [4:0]  marker_lane;   // valid with marker_valid
    logic        marker_valid;
    logic        marker_ok;
    logic        completes_wqe;
    logic        first;
    logic        last;          // the last word is the CRC field
    logic        crc_on;
    logic        crc_ok;
  } fpdu_beat_t;

  // What model/rnic/tx/ulpdu.h says of a ULPDU in its buffer.
  typedef struct packed {
    logic [31:0] flow;
    logic [15:0] bytes;         // DDP header and payload
    logic        completes_wqe;
  } ulpdu_t;

  typedef struct packed {
    logic [63:0] offset;
    logic [31:0] flow;
    logic [7:0]  bytes;         // 1 to the datapath's width
    logic        first;         // of a TCP segment
    logic        last;
    logic        placed;        // stands for a whole FPDU, whose payload is placed: its first octets, without markers
    logic        ends;          // the peer's FIN: a word that means nothing and has no place in the stream
  } stream_beat_t;

endpackage
