"""What Numba's compiler warns of: loops that stay serial, products of arrays that lie apart.

A program may hide such warnings, or send them where nobody reads them; they are noted as they are
made. Numba has no other sign of these things.
"""

import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_BY_FILE = {"parfor.py": "serial_loop", "typed_passes.py": "nothing_parallel"}
"""What a warning with a line of its own is of, by the file of Numba's that makes it."""


class NumbaWarnings:
    """Writes where Numba warns that something will be slow."""

    def __init__(self, journal: "Journal") -> None:
        """Write into ``journal``."""
        self._journal = journal
        self._kept: tuple[Any, Any] | None = None

    def begin(self) -> None:
        """Follow warnings from now on. Numba is loaded."""
        from numba.core import errors as untyped

        errors: Any = untyped
        if not hasattr(errors, "WarningsFixer"):  # of another version
            return
        made, flush = errors.NumbaPerformanceWarning.__init__, errors.WarningsFixer.flush
        self._kept = errors, flush

        def noted(warning: "Any", *given: "Any", **named: "Any") -> None:
            made(warning, *given, **named)
            loc = named.get("loc", given[1] if len(given) > 1 else None)
            maker = sys._getframe(1).f_code.co_filename.rpartition("/")[2]
            if loc is not None and maker in _BY_FILE:
                self._write(_BY_FILE[maker], loc.filename, loc.line)

        def flushed(fixer: "Any") -> None:
            for path, line, category in list(getattr(fixer, "_warnings", ())):
                if category is errors.NumbaPerformanceWarning:
                    self._write("apart", path, line)
            flush(fixer)

        errors.NumbaPerformanceWarning.__init__ = noted
        errors.WarningsFixer.flush = flushed

    def end(self) -> None:
        """Follow no more, and leave Numba as it was."""
        if self._kept is not None:
            errors, flush = self._kept
            del errors.NumbaPerformanceWarning.__init__
            errors.WarningsFixer.flush = flush
            self._kept = None

    def _write(self, what: str, path: str, line: int) -> None:
        try:
            if sites.kind(path) == sites.USERS:
                self._journal.write("warned", what=what, path=path, line=line)
        except Exception as error:
            failed(self._journal, error)
