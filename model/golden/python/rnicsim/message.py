"""What the classes of _messages.py have in common: a C structure with named fields, with octets and markers as Python values."""
import ctypes
import difflib
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn

from .errors import E_NAME, E_VALUE, RnicError

u8, u16, u32, u64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
text = ctypes.c_char_p  # of octets that Python keeps


class Mark(ctypes.Structure):
    """A marker (RFC 5044 section 4.3) beside the words of a received FPDU: `octets` were on the wire before word `word`."""
    word: int
    _fields_ = [("word", u32), ("_octets", u8 * 4)]

    def __init__(self, word: int = 0, octets: bytes = bytes(4)) -> None:
        if len(octets) != 4:
            raise RnicError(E_VALUE, f"a marker has 4 octets, and not {len(octets)}")
        super().__init__(word, (u8 * 4)(*octets))

    @property
    def octets(self) -> bytes:
        """The marker's four octets."""
        return bytes(self._octets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mark) and (self.word, self.octets) == (other.word, other.octets)

    def __repr__(self) -> str:
        return f"Mark({self.word}, {self.octets!r})"


marks = ctypes.POINTER(Mark)
_put = ctypes.Structure.__setattr__  # of what is not for callers


class Message(ctypes.Structure):
    """A message, or a table's row. Its fields are keywords of the constructor and attributes; one that is not given is 0.

    A value that does not fit its width is RnicError(E_VALUE); a field that the message does not have is a TypeError that names the
    nearest. A field of several elements is a tuple.
    """
    KIND: ClassVar[str]                    # its name in C, without rnic_
    WIDTHS: ClassVar[dict[str, int]]       # bits, by field
    COUNTS: ClassVar[dict[str, int]] = {}  # elements, of fields with several

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        _put(self, "size", ctypes.sizeof(self))
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        width = self.WIDTHS.get(name)
        if width is None:
            if name not in self._others():
                near = difflib.get_close_matches(name, [*self.WIDTHS, *self._others()], 1, 0)
                raise TypeError(f"{self.KIND} has no field '{name}'; the nearest is '{near[0]}'")
            object.__setattr__(self, name, value)
        elif name in self.COUNTS:
            self._set_elements(name, width, tuple(value))
        else:
            super().__setattr__(name, self._checked(name, width, value))

    def _checked(self, name: str, width: int, value: Any) -> int:
        if not 0 <= value < 1 << width:
            raise RnicError(E_VALUE, f"{self.KIND}.{name} is {value}, which does not fit its {width} bit{'s' * (width > 1)}")
        return int(value)

    def _set_elements(self, name: str, width: int, values: Sequence[Any]) -> None:
        if len(values) != self.COUNTS[name]:
            raise RnicError(E_VALUE, f"{self.KIND}.{name} has {self.COUNTS[name]} elements, and not {len(values)}")
        elements = getattr(self, name)
        for i, value in enumerate(values):
            elements[i] = self._checked(name, width, value)

    @classmethod
    def _others(cls) -> tuple[str, ...]:
        """What may be set beside the fields."""
        return ()

    def values(self) -> dict[str, Any]:
        """All fields by name; octets and markers, too."""
        found = {name: tuple(getattr(self, name)) if name in self.COUNTS else getattr(self, name) for name in self.WIDTHS}
        return {name: getattr(self, name) for name in self._others()} | found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and type(self) is type(other) and self.values() == other.values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.values().items() if value)
        return f"{type(self).__name__}({', '.join(given)})"


class WithOctets(Message):
    """A message with octets beside its fields: `octets`, bytes."""
    octets_n: int
    octets_room: int
    _octets: bytes

    @classmethod
    def _others(cls) -> tuple[str, ...]:
        return ("octets",)

    @property
    def octets(self) -> bytes:
        """The octets that belong to the message."""
        octets: bytes = self.__dict__.get("octets", b"")
        return octets

    @octets.setter
    def octets(self, octets: bytes) -> None:
        octets = self.__dict__["octets"] = bytes(octets)
        _put(self, "octets_n", len(octets))
        _put(self, "_octets", octets)


class WithMarks(WithOctets):
    """A message that also has markers beside its words: `marks`, a list of Mark."""
    marks_n: int
    marks_room: int
    _marks: Any

    @classmethod
    def _others(cls) -> tuple[str, ...]:
        return ("octets", "marks")

    @property
    def marks(self) -> list[Mark]:
        """The markers, by the word that each was before."""
        return list(self.__dict__.get("marks", ()))

    @marks.setter
    def marks(self, found: Iterable[Mark]) -> None:
        listed = list(found)
        array = self.__dict__["marks"] = (Mark * len(listed))(*listed)
        _put(self, "marks_n", len(listed))
        _put(self, "_marks", ctypes.cast(array, marks))


class Port(NamedTuple):
    """An input ("push") or output ("take") of a kind of stage."""
    name: str
    direction: str
    message: type[Message]


class Kind(NamedTuple):
    """A kind of stage; `tables` are the classes of their rows by name."""
    name: str
    text: str
    ports: tuple[Port, ...]
    tables: dict[str, type[Message]]
    counters: tuple[str, ...]


def fail_name(what: str, name: str, names: Iterable[str]) -> NoReturn:
    """RnicError(E_NAME) with the nearest name."""
    near = difflib.get_close_matches(name, names, 1, 0)
    raise RnicError(E_NAME, f'no {what} "{name}"; ' + (f'the nearest is "{near[0]}"' if near else "there is none"))


def port_of(kind: Kind, name: str) -> tuple[int, Port]:
    """A port with its number."""
    for number, port in enumerate(kind.ports):
        if port.name == name:
            return number, port
    fail_name("port", name, [port.name for port in kind.ports])


def table_of(kind: Kind, name: str) -> type[Message]:
    """The class of a table's rows."""
    if name not in kind.tables:
        fail_name("table", name, list(kind.tables))
    return kind.tables[name]


def given(of: type[Message], message: Message | None, fields: dict[str, Any]) -> Any:
    """A message for a C function, of its structure or of its fields."""
    if message is None:
        message = of(**fields)
    elif fields:
        raise TypeError("a message or its fields are given, not both")
    if not isinstance(message, of):
        raise TypeError(f"this is for {of.__name__}, and not for {type(message).__name__}")
    return ctypes.byref(message)


class Room:
    """The caller's memory of one output: a structure that messages are taken into, again and again."""

    def __init__(self, of: type[Message]) -> None:
        self._of = of
        self.into: Any = of()
        self._octets = ctypes.create_string_buffer(0)
        self._marks = (Mark * 0)()
        self.make_room()

    def make_room(self) -> None:
        """At least what the counts of the last attempt asked for. Before the first one: what most messages need."""
        if issubclass(self._of, WithOctets):
            self._octets = ctypes.create_string_buffer(max(4096, self.into.octets_n))
            _put(self.into, "_octets", ctypes.cast(self._octets, text))
            _put(self.into, "octets_room", len(self._octets))
        if issubclass(self._of, WithMarks):
            self._marks = (Mark * max(16, self.into.marks_n))()
            _put(self.into, "_marks", ctypes.cast(self._marks, marks))
            _put(self.into, "marks_room", len(self._marks))

    def message(self) -> Any:
        """What was taken, as a message with memory of its own."""
        taken: Any = self._of.from_buffer_copy(self.into)
        if isinstance(taken, WithOctets):
            taken.octets = ctypes.string_at(self._octets, self.into.octets_n)
            _put(taken, "octets_room", 0)
        if isinstance(taken, WithMarks):
            taken.marks = [Mark(mark.word, mark.octets) for mark in self._marks[:self.into.marks_n]]
            _put(taken, "marks_room", 0)
        return taken
