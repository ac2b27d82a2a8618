"""What a user's script finds under ``coldwarm.bench`` while it is imported to be measured.

There the calls measure nothing, or the script would start itself again and again. Those
before the one that started the measurement hand back something that a script can go on
with; at that one the script has come as far as it had when its author asked, and its
import is over.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ReachedError(BaseException):
    """The script has come to the call that is measured; it needs to go no further."""


class _Nothing:
    """A result of nothing: whatever is asked of it is nothing again, and reads as such."""

    def __getattr__(self, name: str) -> "_Nothing":
        """Return nothing."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_arguments: "Any", **_named: "Any") -> "_Nothing":
        """Return nothing."""
        return self

    def __getitem__(self, _key: "Any") -> "_Nothing":
        """Return nothing."""
        return self

    def __iter__(self) -> "Any":
        """Hold nothing."""
        return iter(())

    def __float__(self) -> float:
        """Be no number."""
        return float("nan")

    def __bool__(self) -> bool:
        """Be false."""
        return False

    def __repr__(self) -> str:
        """Read as nothing."""
        return "nothing: this process is measured"

    def __format__(self, _how: str) -> str:
        """Take any format, such as that of a number."""
        return repr(self)

    def _with(self, _other: "Any") -> "_Nothing":
        return self

    def _than(self, _other: "Any") -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __rtruediv__ = _with
    __lt__ = __le__ = __gt__ = __ge__ = _than


_expected: "list[int]" = []
"""Calls that are still to come; the last of them ends the import. Empty: all are passed."""


def bench(*_arguments: "Any", **_named: "Any") -> _Nothing:
    """Measure nothing; end the import where this is the call that it was for.

    Raises:
        ReachedError: it is.
    """
    if _expected:
        _expected[0] -= 1
        if _expected[0] == 0:
            raise ReachedError
    return _Nothing()


def make(*_arguments: "Any", **_named: "Any") -> "Callable[..., _Nothing]":
    """Return what ``coldwarm.Benchmark`` does: here, what measures nothing."""
    return bench


def run_to(call: int, run: "Callable[[], object]") -> None:
    """Run a script to its ``call``-th call of ``coldwarm.bench``, or to its end."""
    _expected[:] = [call]
    try:
        run()
    except ReachedError:
        pass
    finally:
        _expected.clear()
