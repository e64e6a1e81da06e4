"""Results of the C libraries, by the names of rnic_golden.h, and the error that carries one."""
OK, NONE = 0, 1
E_ABI, E_NULL, E_SIZE, E_NAME, E_VALUE, E_SETTINGS, E_TIME, E_HUNG = -1, -2, -3, -4, -5, -6, -7, -8
E_REENTERED, E_MEMORY, E_MISMATCH, E_BROKEN = -9, -10, -11, -12

_NAMES = {OK: "OK", NONE: "NONE", E_ABI: "E_ABI", E_NULL: "E_NULL", E_SIZE: "E_SIZE", E_NAME: "E_NAME", E_VALUE: "E_VALUE", E_SETTINGS: "E_SETTINGS",
          E_TIME: "E_TIME", E_HUNG: "E_HUNG", E_REENTERED: "E_REENTERED", E_MEMORY: "E_MEMORY", E_MISMATCH: "E_MISMATCH",
          E_BROKEN: "E_BROKEN"}


class RnicError(Exception):
    """A call that a library refused: `status` is its result (such as E_NAME), `text` its sentence."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text

    @property
    def name(self) -> str:
        """The result's name in rnic_golden.h, such as "RNIC_E_NAME"."""
        return "RNIC_" + _NAMES.get(self.status, str(self.status))

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"
