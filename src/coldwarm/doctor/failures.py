"""Where the doctor itself fails: it never becomes the program's, and the report says it."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 50
_told: "set[tuple[int, str, str]]" = set()


def failed(journal: "Any", error: Exception) -> None:
    """Write into a journal that the doctor failed: once for each line of its own at which it did.

    It raises nothing, whatever the error is.
    """
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        at = "?"
        if trace is not None:
            at = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        one = os.getpid(), at, type(error).__name__
        if one not in _told and len(_told) < _MOST:
            _told.add(one)
            journal.write("failed", at=at, error=type(error).__name__)
    except Exception:
        return


def forget() -> None:
    """Write again what was written before: for a reader who came later."""
    _told.clear()
