"""A model checker for programs with threads: every answer comes with evidence that was checked."""

from ._selvedge import (
    Answer,
    CancelToken,
    Certificate,
    Change,
    Failure,
    Limits,
    Program,
    Question,
    SelvedgeError,
    Step,
    Trace,
    __version__,
    check,
)

__all__ = [
    "Answer",
    "CancelToken",
    "Certificate",
    "Change",
    "Failure",
    "Limits",
    "Program",
    "Question",
    "SelvedgeError",
    "Step",
    "Trace",
    "__version__",
    "check",
]
