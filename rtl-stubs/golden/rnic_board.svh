// A scoreboard of librnic_golden (model/golden/board.md) in a test bench: a call for each handshake of the device. The first
// mismatch is printed in five lines and ends the simulation. To be included in a module or package, with rnic_golden_pkg.
class rnic_board;
  local chandle board;

  // For a kind of device, with settings as JSON.
  function new(input string kind, input string settings = "{}");
    check(rnic_golden_pkg::rnic_board_open(rnic_golden_pkg::Abi, kind, settings, board));
  endfunction

  // The device takes a beat or message at a port, or gives one, in this cycle; bits: its packed structure.
  function void accepted(input int unsigned port, input rnic_golden_pkg::bits_t bits, input rnic_golden_pkg::octets_t octets,
                         input longint unsigned cycle);
    check(rnic_golden_pkg::rnic_board_accepted_beat(board, port, bits, octets, cycle));
  endfunction
  function void given(input int unsigned port, input rnic_golden_pkg::bits_t bits, input rnic_golden_pkg::octets_t octets,
                      input longint unsigned cycle);
    check(rnic_golden_pkg::rnic_board_given_beat(board, port, bits, octets, cycle));
  endfunction

  // An output had no credit in the cycles from to to - 1.
  function void stalled(input int unsigned port, input longint unsigned from, input longint unsigned to);
    check(rnic_golden_pkg::rnic_board_stalled(board, port, from, to));
  endfunction
  function void reset(input longint unsigned cycle);
    check(rnic_golden_pkg::rnic_board_reset(board, cycle));
  endfunction

  // The device is at rest. Nothing may be missing, and something must have been compared.
  function void finish(input longint unsigned cycle);
    check(rnic_golden_pkg::rnic_board_end(board, cycle));
    $display("%s", rnic_golden_pkg::rnic_board_report(board));
    rnic_golden_pkg::rnic_board_close(board);
  endfunction

  local function void check(input int result);
    if (result >= 0) return;
    $display("%s", rnic_golden_pkg::rnic_board_text(board));
    $fatal(1, "rnic_board: %s", rnic_golden_pkg::rnic_status_name(result));
  endfunction
endclass
