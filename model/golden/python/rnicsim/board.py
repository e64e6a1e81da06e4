"""Scoreboards: what a device accepts and gives, in any cycles, against what the model says. See board.md."""
import ctypes
import functools
import json
from collections.abc import Mapping
from typing import Any

from ._handle import Opened
from ._library import Handle, declare, golden
from ._messages import KINDS
from .message import Kind, Message, given, port_of, table_of


@functools.cache
def _library() -> ctypes.CDLL:
    text, status, u32, u64, message = ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
    return declare(golden(), {
        "rnic_board_open": (status, [u32, text, text, ctypes.POINTER(Handle)]),
        "rnic_board_close": (None, [Handle]),
        "rnic_board_text": (text, [Handle]),
        "rnic_board_report": (text, [Handle]),
        "rnic_board_accepted": (status, [Handle, u32, message, u64]),
        "rnic_board_given": (status, [Handle, u32, message, u64]),
        "rnic_board_row": (status, [Handle, text, u32, message, u64]),
        "rnic_board_stalled": (status, [Handle, u32, u64, u64]),
        "rnic_board_reset": (status, [Handle, u64]),
        "rnic_board_end": (status, [Handle, u64]),
    })


def _kind(name: str) -> Kind:
    """Those of SCTP have the ports of the stages that the two transports share."""
    return KINDS.get(name) or KINDS[name.removeprefix("sctp_")]


class Board(Opened):
    """A board for a device of one of the KINDS, "sctp_crc_insert" or "sctp_crc_check". Settings are those of the stage, and
    `max_latency` and `race_window` (cycles). Cycles are the device's, in order. A device that is wrong is RnicError(E_MISMATCH) with five lines.

        with Board("crc_check", {"max_latency": 100}) as board:
            board.accepted("in", cycle, octets=fpdu, crc_on=1)
            board.given("out", cycle + 4, octets=fpdu, crc_on=1, crc_ok=1)
            board.end(cycle + 4)
    """

    def __init__(self, kind: str, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(_library(), "rnic_board", kind.encode(), json.dumps(dict(settings or {})).encode())
        self.kind = _kind(kind)

    def accepted(self, port: str, cycle: int, message: Message | None = None, **fields: Any) -> None:
        """The device has taken a message at an input: the port's structure, or its fields as keywords. `cycle` is that of its last beat."""
        number, of = port_of(self.kind, port)
        self._done(self._library.rnic_board_accepted(self._handle, number, given(of.message, message, fields), cycle))

    def given(self, port: str, cycle: int, message: Message | None = None, **fields: Any) -> None:
        """A message was taken from an output of the device; `cycle` is that of its last beat."""
        number, of = port_of(self.kind, port)
        self._done(self._library.rnic_board_given(self._handle, number, given(of.message, message, fields), cycle))

    def row(self, table: str, index: int, cycle: int, row: Message | None = None, **fields: Any) -> None:
        """A row of a table is another one from that cycle on."""
        of = table_of(self.kind, table)
        self._done(self._library.rnic_board_row(self._handle, table.encode(), index, given(of, row, fields), cycle))

    def stalled(self, port: str, begin: int, end: int) -> None:
        """An output had no room in the cycles begin to end - 1; with both equal no more is said than that time has passed."""
        number, _ = port_of(self.kind, port)
        self._done(self._library.rnic_board_stalled(self._handle, number, begin, end))

    def reset(self, cycle: int) -> None:
        """The device was reset: what it had accepted before gives nothing any more."""
        self._done(self._library.rnic_board_reset(self._handle, cycle))

    def end(self, cycle: int) -> None:
        """The device is at rest and has given all. A board that compared nothing fails here."""
        self._done(self._library.rnic_board_end(self._handle, cycle))

    def report(self) -> dict[str, Any]:
        """By port what was accepted, or compared, with the latency in cycles from an acceptance to its outcome."""
        found: dict[str, Any] = json.loads(self._library.rnic_board_report(self._handle))
        return found
