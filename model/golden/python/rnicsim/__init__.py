"""rnicsim's golden model from Python: stages as predictors, and whole runs. See python.md.

Nothing but the standard library and the C libraries is needed. What a library refuses is an RnicError with its result and sentence.
"""
from ._messages import KINDS
from ._messages import *  # noqa: F401,F403
from .board import Board
from .errors import RnicError
from .message import Mark, Message
from .run import Event, Figures, Run, Series, run
from .scenario import scenario, work
from .stage import Stage, crc32c, description, version

__all__ = ["Board", "KINDS", "Event", "Figures", "Mark", "Message", "RnicError", "Run", "Series", "Stage", "crc32c", "description", "run", "scenario", "version",
           "work"]
