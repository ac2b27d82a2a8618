"""A journal in this process's own memory, for those who ask while the program runs."""

import itertools
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_ROWS = 100_000
"""Kept, the last ones."""
_FIELDS = 4
_now_s = time.perf_counter


class Memory:
    """What a journal is to those who write; the rows stay here."""

    most_of_a_place = MOST_ROWS
    fingerprints = False
    """Whether each program that is compiled gets its fingerprint, from when this is set."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.rows: list[dict[str, Any]] = []
        self.n_gone = 0
        """Rows that are kept no more."""
        self.counts = [0] * _FIELDS  # the first place is the journal's own, as in a file
        self._numbers = itertools.count(1)

    def number(self) -> int:
        """Return the number of another call for which something is compiled."""
        return next(self._numbers)

    def slot(self) -> int:
        """Return where the numbers of another place begin."""
        self.counts += [0] * _FIELDS
        return len(self.counts) - _FIELDS

    def write(self, kind: str, **fields: "Any") -> None:
        """Keep a row, with the moment in seconds."""
        if len(self.rows) >= MOST_ROWS:
            gone = MOST_ROWS // 2
            self.n_gone += gone
            del self.rows[:gone]
        self.rows.append({"kind": kind, "at_s": _now_s(), **fields})

    def since(self, number: int) -> "list[dict[str, Any]]":
        """Return the rows after so many."""
        return self.rows[max(0, number - self.n_gone) :]
