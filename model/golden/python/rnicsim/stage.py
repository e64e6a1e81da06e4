"""Stages as predictors: what is pushed at their inputs gives what is taken from their outputs. See golden.md."""
import ctypes
import difflib
import json
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from ._library import ABI, Handle, golden
from ._messages import KINDS
from .errors import E_NAME, E_SIZE, NONE, RnicError
from .message import Message, Port, Room


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


def _nearest(what: str, name: str, names: list[str]) -> RnicError:
    near = difflib.get_close_matches(name, names, 1, 0)
    return RnicError(E_NAME, f'no {what} "{name}"; ' + (f'the nearest is "{near[0]}"' if near else "there is none"))


class Stage:
    """A stage of one of the KINDS, at settings by the names of `rnicsim config --list` below the stage's own.

    A handle of the library, for one thread at a time: use it in a `with`, or close() it. RnicError for what the library refuses.

        with Stage("mpa_transmit", {"beat_bytes": 64}) as transmit:
            transmit.push("in", octets=ulpdu, crc=True, markers=True, position=0)
            fpdu = transmit.take("out")
    """

    def __init__(self, kind: str, settings: Mapping[str, Any] | None = None) -> None:
        self._library = golden()
        self._handle = Handle()
        self._rooms: dict[str, Room] = {}
        status = self._library.rnic_stage_open(ABI, kind.encode(), json.dumps(dict(settings or {})).encode(), ctypes.byref(self._handle))
        if status < 0:
            text = self._text()
            self.close()
            raise RnicError(status, text)
        if kind not in KINDS:
            self.close()
            raise _nearest("kind of stage", kind, list(KINDS))
        self.kind = KINDS[kind]
        self._ports = {port.name: (number, port) for number, port in enumerate(self.kind.ports)}

    def close(self) -> None:
        """Ends the handle; a second time does nothing."""
        handle, self._handle = self._handle, Handle()
        self._library.rnic_stage_close(handle)

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def reset(self) -> None:
        """As if it had just been opened."""
        self._done(self._library.rnic_stage_reset(self._handle))

    def push(self, port: str, message: Message | None = None, **fields: Any) -> None:
        """Offers a message at an input: the port's structure, or its fields as keywords."""
        number, of = self._port(port)
        if message is None:
            message = of.message(**fields)
        elif fields:
            raise TypeError("push() takes a message or its fields, not both")
        if not isinstance(message, of.message):
            raise TypeError(f"{self.kind.name}.{port} has {of.message.__name__}, and not {type(message).__name__}")
        self._done(self._library.rnic_stage_push(self._handle, number, ctypes.byref(message)))

    def take(self, port: str) -> Any:
        """The oldest message that is at an output, of the class that `kind.ports` names; None if nothing is there."""
        number, of = self._port(port)
        room = self._rooms.get(port)
        if room is None:
            room = self._rooms[port] = Room(of.message)
        status = self._library.rnic_stage_take(self._handle, number, ctypes.byref(room.into))
        if status == E_SIZE:  # nothing was taken, and the counts say how much is needed
            room.make_room()
            status = self._library.rnic_stage_take(self._handle, number, ctypes.byref(room.into))
        if status == NONE:
            return None
        self._done(status)
        return room.message()

    def take_all(self, port: str) -> Iterator[Any]:
        """The messages that are at an output, the oldest first."""
        while (message := self.take(port)) is not None:
            yield message

    def row(self, table: str, index: int, row: Message | None = None, **fields: Any) -> None:
        """Sets a row of a table, before what depends on it is pushed: its structure, or its fields as keywords."""
        of = self.kind.tables.get(table)
        if of is None:
            raise _nearest("table", table, list(self.kind.tables))
        given = of(**fields) if row is None else row
        self._done(self._library.rnic_stage_row(self._handle, table.encode(), index, ctypes.byref(given)))

    def counter(self, name: str) -> int:
        """A counter by its name in stats.json, without the stage's."""
        value = ctypes.c_uint64()
        self._done(self._library.rnic_stage_counter(self._handle, name.encode(), ctypes.byref(value)))
        return value.value

    def counters(self) -> dict[str, int]:
        """All counters by name."""
        return {name: self.counter(name) for name in self.kind.counters}

    def _port(self, name: str) -> tuple[int, Port]:
        if name not in self._ports:
            raise _nearest("port", name, list(self._ports))
        return self._ports[name]

    def _text(self) -> str:
        return str(self._library.rnic_stage_text(self._handle).decode())

    def _done(self, status: int) -> None:
        if status < 0:
            raise RnicError(status, self._text())
