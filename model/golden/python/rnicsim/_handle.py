"""What stages, boards and runs have in common: a handle of a C library, with its errors."""
import ctypes
from types import TracebackType
from typing import Any, TypeVar

from ._library import ABI
from .errors import RnicError

Self = TypeVar("Self", bound="Opened")


class Opened:
    """An open handle, for one thread at a time: use it in a `with`, or close() it."""

    def __init__(self, library: ctypes.CDLL, of: str, *arguments: bytes) -> None:
        """`of` is what the names of its functions begin with, such as "rnic_stage". RnicError if it cannot be opened."""
        self._library, self._of = library, of
        self._handle = ctypes.c_void_p()
        status = self._function("open")(ABI, *arguments, ctypes.byref(self._handle))
        if status < 0:
            text = self._text()
            self.close()
            raise RnicError(status, text)

    def close(self) -> None:
        """Ends the handle; a second time does nothing."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._function("close")(handle)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _function(self, name: str) -> Any:
        return getattr(self._library, f"{self._of}_{name}")

    def _text(self) -> str:
        return str(self._function("text")(self._handle).decode())

    def _done(self, status: int) -> int:
        """The result of a call, if it is no error."""
        if status < 0:
            raise RnicError(status, self._text())
        return status
