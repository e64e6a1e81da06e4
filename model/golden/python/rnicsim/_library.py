"""Finds the C libraries and checks that they are those that this package was written for."""
import ctypes
import functools
import os
import pathlib
from collections.abc import Iterator

from .errors import E_ABI, RnicError

ABI = 0x00010000  # of rnic_golden.h and rnic_run.h: major << 16 | minor
PATH = "RNICSIM_LIBRARY_PATH"


def _folders() -> Iterator[pathlib.Path]:
    """Where libraries may be: what the environment names; then beside an installed package, or in a build of this source tree."""
    for name in os.environ.get(PATH, "").split(os.pathsep):
        if name:
            yield pathlib.Path(name)
    for above in pathlib.Path(__file__).resolve().parents:
        for lib in ("lib", "lib64"):
            yield above / lib
            yield from sorted(above.glob(f"{lib}/*-linux-*"))
        for build in ("release", "debug"):
            yield above / "build" / build / "model/golden"


def find(name: str) -> str:
    """The file of a library such as "librnic_golden.so.1", or its bare name, for the loader's own search, where no folder has it."""
    return next((str(folder / name) for folder in _folders() if (folder / name).is_file()), name)


def load(name: str, abi_function: str) -> ctypes.CDLL:
    """The library. OSError if there is none; RnicError(E_ABI) for one of another major number, or an older one than this package."""
    file = find(name)
    try:
        library = ctypes.CDLL(file)
    except OSError as error:
        raise OSError(f"{name} is not found or cannot be loaded; {PATH} may name its folder ({error})") from error
    number = getattr(library, abi_function)
    number.restype = ctypes.c_uint32
    abi = number()
    if abi >> 16 != ABI >> 16 or abi < ABI:
        raise RnicError(E_ABI, f"this package was written for ABI {ABI:#010x}, and {file} has {abi:#010x}")
    return library


Handle = ctypes.c_void_p


def declare(library: ctypes.CDLL, functions: dict[str, tuple[object, list[object]]]) -> ctypes.CDLL:
    """Sets the types of functions: {name: (result, arguments)}."""
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


@functools.cache
def golden() -> ctypes.CDLL:
    """librnic_golden: stages."""
    text, status, u32 = ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint32
    return declare(load("librnic_golden.so.1", "rnic_abi"), {
        "rnic_version": (text, []),
        "rnic_description": (text, []),
        "rnic_crc32c": (status, [ctypes.POINTER(u32), text, ctypes.c_size_t]),
        "rnic_stage_open": (status, [u32, text, text, ctypes.POINTER(Handle)]),
        "rnic_stage_close": (None, [Handle]),
        "rnic_stage_text": (text, [Handle]),
        "rnic_stage_reset": (status, [Handle]),
        "rnic_stage_push": (status, [Handle, u32, ctypes.c_void_p]),
        "rnic_stage_take": (status, [Handle, u32, ctypes.c_void_p]),
        "rnic_stage_row": (status, [Handle, text, u32, ctypes.c_void_p]),
        "rnic_stage_counter": (status, [Handle, text, ctypes.POINTER(ctypes.c_uint64)]),
    })
