// The datapath's beats as bits: the same fields as model/rnic/beat.h. The first field is the most significant.
package rnic_stream_pkg;

  parameter int unsigned BeatBytes = 64;  // datapath width in octets: 16, 32, 64 or 128
  parameter int unsigned BeatWords = BeatBytes / 4;

  // Octet i of the beat is data[8*i +: 8]. A marker that was taken out stood before word marker_lane.
  typedef struct packed {
    logic [8*BeatBytes-1:0] data;
    logic [31:0]            marker;       // octet i at [8*i +: 8], as on the wire
    logic [31:0]            flow;
    logic [14:0]            reserved;
    logic [5:0]             words;        // 1 to BeatWords
    logic [4:0]             marker_lane;  // valid with marker_valid
    logic                   marker_valid;
    logic                   completes_wqe;
    logic                   first;
    logic                   last;         // the last word is the CRC field
    logic                   crc_on;
    logic                   crc_ok;
  } fpdu_beat_t;

  // CRC32c (RFC 5044 section 4.4): reflected polynomial, bit 0 of octet 0 first.
  parameter logic [31:0] Crc32cPoly = 32'h82F63B78;
  parameter logic [31:0] Crc32cInit = 32'hFFFFFFFF;

  function automatic logic [31:0] crc32c_word(logic [31:0] crc, logic [31:0] word);
    logic [31:0] c;
    c = crc ^ word;
    for (int unsigned i = 0; i < 32; i++) c = c[0] ? (c >> 1) ^ Crc32cPoly : c >> 1;
    return c;
  endfunction

endpackage
