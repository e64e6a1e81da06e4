"""Whole runs, as `rnicsim run` has them: the same cycles, files and digest, without a process and without parsing."""
import ctypes
import difflib
import functools
import importlib
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._handle import Opened
from ._library import Handle, declare, load
from .errors import NONE, OK, RnicError

END = (1 << 64) - 1  # of time, in ps
_STEP = 1_000_000_000  # of simulated time in one call: in between, Python sees signals such as that of Ctrl-C
_NO_NUMBER = 0xffffffff


class _Event(ctypes.Structure):
    """rnic_event."""
    _fields_ = [("size", ctypes.c_uint32), ("flow", ctypes.c_uint32), ("time_ps", ctypes.c_uint64), ("qpn", ctypes.c_uint32),
                ("bytes", ctypes.c_uint32), ("offset", ctypes.c_uint32), ("reserved0", ctypes.c_uint32),
                *((name, ctypes.c_char_p) for name in ("node", "where", "kind", "request", "receive", "words"))]


@functools.cache
def _library() -> ctypes.CDLL:
    """librnicsim_run. Its events are structures whose layout the ABI number fixes."""
    text, status, u64 = ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint64
    return declare(load("librnicsim_run.so.1", "rnic_run_abi"), {
        "rnic_run_version": (text, []),
        "rnic_run_open": (status, [ctypes.c_uint32, text, text, ctypes.POINTER(Handle)]),
        "rnic_run_close": (None, [Handle]),
        "rnic_run_text": (text, [Handle]),
        "rnic_run_drive": (status, [Handle, u64]),
        "rnic_run_json": (status, [Handle, text, ctypes.POINTER(text)]),
        "rnic_run_event": (status, [Handle, text, u64, ctypes.POINTER(_Event)]),
    })


class Event(NamedTuple):
    """A line of the log of --trace: what a stage, the host or the cable did. None where the event has no such number, "" no such text."""
    time_ps: int
    node: str
    where: str    # the stage
    kind: str     # "frame_sent"
    flow: int | None
    qpn: int | None
    bytes: int | None
    request: str  # the owner: "a.0.17"
    receive: str  # of a completion: the receive request that the message used
    offset: int | None
    words: str    # what the event's numbers mean


def _number(value: int) -> int | None:
    return None if value == _NO_NUMBER else value


class Figures(Mapping[str, Any]):
    """Statistics by dotted path, as in stats.json: figures["a.rnic.tcp_tx.timeouts"] is a number, a histogram's a dict of its figures.

    A path that does not exist is a KeyError that names the nearest. `tree` has all of it, with units and descriptions.
    """

    def __init__(self, tree: dict[str, Any]) -> None:
        self.tree = tree
        self._values = dict(self._leaves(tree, ""))

    @classmethod
    def _leaves(cls, tree: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
        for name, value in tree.items():
            if not isinstance(value.get("description"), str):
                yield from cls._leaves(value, f"{above}{name}.")
            elif "value" in value:
                yield above + name, value["value"]
            else:
                yield above + name, {figure: number for figure, number in value.items() if figure not in ("unit", "description")}

    def __getitem__(self, path: str) -> Any:
        if path not in self._values:
            near = difflib.get_close_matches(path, self._values, 1, 0)
            raise KeyError(f"no statistic '{path}'; the nearest is '{near[0]}'")
        return self._values[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Series(Mapping[str, list[float]]):
    """Figures over time (series.json): a list by column, beside `time_ps`, the end of each interval. `columns` have units and kinds."""

    def __init__(self, json_value: dict[str, Any]) -> None:
        self.interval_ps: int = json_value["interval_ps"]
        self.time_ps: list[int] = json_value["time_ps"]
        self.columns: list[dict[str, str]] = json_value["columns"]
        rows = json_value["rows"]  # of the columns that there were then
        self._values = {column["name"]: [row[i] if i < len(row) else 0.0 for row in rows] for i, column in enumerate(self.columns)}

    def __getitem__(self, column: str) -> list[float]:
        return self._values[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def array(self, column: str) -> Any:
        """A column, or "time_ps", as an array of numpy where numpy is installed, else as a list."""
        values = self.time_ps if column == "time_ps" else self._values[column]
        try:
            numpy: Any = importlib.import_module("numpy")
        except ImportError:
            return list(values)
        return numpy.array(values)


class Run(Opened):
    """A run of a scenario, which drive() simulates. Several runs may be in threads of their own.

    `scenario` is a dict as in a scenario's file, or the file's name; `settings` are those of `rnicsim run --set`; `options` are its other
    options by their names with underscores, such as out="folder", trace="t.tsv", stats_every="10us", point=3, scoreboard="crc_check",
    rtl="crc_check=./libmine.so", and events=True, which keeps events for events(). Without `out` no file is written but those that are named. RnicError for what is refused, before anything runs.
    Files of a run that is closed before it has ended keep the names that end with .part.
    """

    def __init__(self, scenario: Mapping[str, Any] | str | os.PathLike[str], settings: Mapping[str, Any] | None = None, **options: Any) -> None:
        text = json.dumps(dict(scenario)) if isinstance(scenario, Mapping) else pathlib.Path(scenario).read_text(encoding="utf-8")
        asked: dict[str, Any] = {name.replace("_", "-"): os.fspath(value) if isinstance(value, os.PathLike) else value
                                 for name, value in options.items()}
        asked["set"] = dict(settings or {})
        super().__init__(_library(), "rnic_run", text.encode(), json.dumps(asked).encode())
        self.ended = False
        self._until = 0  # where drive() has come to

    def drive(self, until_ps: int = END) -> bool:
        """Simulates to that time in ps, and less than a microsecond more, or to the end. Whether the run has ended, well or not."""
        while not self.ended and self._until < until_ps:
            self._until = min(until_ps, self._until + _STEP)
            self.ended = self._done(self._library.rnic_run_drive(self._handle, self._until)) != NONE
        return self.ended

    def value(self, name: str) -> Any:
        """A member of stats.json, "all" of it, "series", "scoreboard" or "report"; until the run has ended "stats" and "sim_time_ps" alone."""
        found = ctypes.c_char_p()
        status = self._library.rnic_run_json(self._handle, name.encode(), ctypes.byref(found))
        if status != OK:
            raise RnicError(status, self._text())
        return json.loads(found.value or b"null")

    @property
    def stats(self) -> Figures:
        """The counters, by path; those so far of a run that goes on."""
        return Figures(self.value("stats"))

    @functools.cached_property
    def results(self) -> list[dict[str, Any]]:
        """Of each work item: name, count, goodput_gbps, latency_ns, …"""
        found: list[dict[str, Any]] = self.value("results")
        return found

    @property
    def series(self) -> Series:
        """Figures over time, of a run with stats_every."""
        return Series(self.value("series"))

    @property
    def scoreboard(self) -> dict[str, Any]:
        """The reports of the boards, by stage, of a run with scoreboard="all" or names: what was compared, and in how many cycles."""
        found: dict[str, Any] = self.value("scoreboard")
        return found

    @property
    def bottleneck(self) -> dict[str, Any]:
        """What limited the run: name, where, share, line."""
        found: dict[str, Any] = self.value("bottleneck")
        return found

    @property
    def digest(self) -> str:
        """Of all that the chips did, as in stats.json."""
        return str(self.value("digest"))

    @property
    def report(self) -> str:
        """What the program prints."""
        return str(self.value("report")["out"])

    @property
    def messages(self) -> str:
        """What the program prints on its error stream: errors, and what a run that hung waits for."""
        return str(self.value("report")["err"])

    @property
    def exit_code(self) -> int:
        """The program's: 0 if all is well (README.md)."""
        return int(self.value("report")["exit_code"])

    def events(self, kind: str | None = None) -> Iterator[Event]:
        """The events so far in order of time, of one kind or of all. The run has to be one with events=True."""
        of_kind, i = kind.encode() if kind is not None else None, 0
        event = _Event(ctypes.sizeof(_Event))
        while self._done(self._library.rnic_run_event(self._handle, of_kind, i, ctypes.byref(event))) != NONE:
            yield Event(event.time_ps, event.node.decode(), event.where.decode(), event.kind.decode(), _number(event.flow), _number(event.qpn),
                        _number(event.bytes), event.request.decode(), event.receive.decode(), _number(event.offset), event.words.decode())
            i += 1


def run(scenario: Mapping[str, Any] | str | os.PathLike[str], settings: Mapping[str, Any] | None = None, **options: Any) -> Run:
    """Runs a scenario to its end. See Run."""
    made = Run(scenario, settings, **options)
    made.drive()
    return made
