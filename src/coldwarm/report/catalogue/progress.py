"""What is measured now of patterns or claims, and how long the rest takes, on a terminal.

As in ``coldwarm.report.progress`` there is no refresh thread: the line changes between measured
processes alone. Elsewhere than on a terminal only the results are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.live import Live

from coldwarm.report import units
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from coldwarm.runner.catalogue.kept import Begun


class Progress:
    """A line that says what is measured now, below the results so far."""

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        self._console = console
        able = console.is_terminal and not console.is_dumb_terminal
        self._live = (
            Live(
                console=console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            if able
            else None
        )

    def __enter__(self) -> Self:
        """Start showing."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Take the line away; the results stay."""
        if self._live is not None:
            self._live.stop()

    def begun(self, what: Begun) -> None:
        """Show what is measured now."""
        if self._live is not None:
            left = f"about {units.clock(what.left_s)} left"
            text = line(f"{what.number} of {what.of}: {what.name} …, {left}", "bold")
            self._live.update(text, refresh=True)

    def told(self, result: Text) -> None:
        """Print a result, which stays."""
        self._console.print(result)
