"""Stages as predictors: what is pushed at their inputs gives what is taken from their outputs. See golden.md."""
import ctypes
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ._handle import Opened
from ._library import golden
from ._messages import KINDS
from .errors import E_SIZE, NONE
from .message import Message, Room, given, port_of, table_of


def crc32c(octets: bytes, before: int = 0) -> int:
    """CRC32c (RFC 3385, RFC 5044 section 4.4) of the octets, continued from that of those before."""
    crc = ctypes.c_uint32(before)
    golden().rnic_crc32c(ctypes.byref(crc), octets, len(octets))
    return crc.value


def version() -> str:
    """Of the library."""
    return str(golden().rnic_version().decode())


def description() -> dict[str, Any]:
    """All that the library has: `kinds` with settings (default, range, unit, meaning), ports, tables, counters; `messages`."""
    found: dict[str, Any] = json.loads(golden().rnic_description())
    return found


class Stage(Opened):
    """A stage of one of the KINDS, at settings by the names of `rnicsim config --list` below the stage's own. RnicError for what the
    library refuses.

        with Stage("mpa_transmit", {"beat_bytes": 64}) as transmit:
            transmit.push("in", octets=ulpdu, crc=True, markers=True, position=0)
            fpdu = transmit.take("out")
    """

    def __init__(self, kind: str, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(golden(), "rnic_stage", kind.encode(), json.dumps(dict(settings or {})).encode())
        self.kind = KINDS[kind]
        self._rooms: dict[str, Room] = {}

    def reset(self) -> None:
        """As if it had just been opened."""
        self._done(self._library.rnic_stage_reset(self._handle))

    def push(self, port: str, message: Message | None = None, **fields: Any) -> None:
        """Offers a message at an input: the port's structure, or its fields as keywords."""
        number, of = port_of(self.kind, port)
        self._done(self._library.rnic_stage_push(self._handle, number, given(of.message, message, fields)))

    def take(self, port: str) -> Any:
        """The oldest message that is at an output, of the class that `kind.ports` names; None if nothing is there."""
        number, of = port_of(self.kind, port)
        room = self._rooms.get(port)
        if room is None:
            room = self._rooms[port] = Room(of.message)
        status = self._library.rnic_stage_take(self._handle, number, ctypes.byref(room.into))
        if status == E_SIZE:  # nothing was taken, and the counts say how much is needed
            room.make_room()
            status = self._library.rnic_stage_take(self._handle, number, ctypes.byref(room.into))
        return None if self._done(status) == NONE else room.message()

    def take_all(self, port: str) -> Iterator[Any]:
        """The messages that are at an output, the oldest first."""
        while (message := self.take(port)) is not None:
            yield message

    def row(self, table: str, index: int, row: Message | None = None, **fields: Any) -> None:
        """Sets a row of a table, before what depends on it is pushed: its structure, or its fields as keywords."""
        of = table_of(self.kind, table)
        self._done(self._library.rnic_stage_row(self._handle, table.encode(), index, given(of, row, fields)))

    def counter(self, name: str) -> int:
        """A counter by its name in stats.json, without the stage's."""
        value = ctypes.c_uint64()
        self._done(self._library.rnic_stage_counter(self._handle, name.encode(), ctypes.byref(value)))
        return value.value

    def counters(self) -> dict[str, int]:
        """All counters by name."""
        return {name: self.counter(name) for name in self.kind.counters}
