"""What the tests of a session have measured: summed up, saved as a file, compared at the end.

Values are plain, as workers send them. Two measure one after the other: at once they would disturb
each other, also in different processes.
"""

from __future__ import annotations

import fcntl
import os
import platform
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from coldwarm import __version__
from coldwarm.contracts.base import WARM
from coldwarm.contracts.codec import without_secrets
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.result import Measured
from coldwarm.errors import ColdwarmError, ListedError, UsageError
from coldwarm.integrations import figures, opening
from coldwarm.integrations.figures import exported
from coldwarm.integrations.formats import Opened, pyperf
from coldwarm.report import comparison_text, terminal
from coldwarm.report.sentences import counted
from coldwarm.report.units import duration
from coldwarm.runner import environment
from coldwarm.stats.compared_results import IncomparableError, compare_results
from coldwarm.stats.selection import warm_processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import Benchmarks
    from coldwarm.inprocess.bench_result import BenchResult
    from coldwarm.integrations.pytest_fixture import Measurements


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test of this user measures, of any session on this machine.

    Raises:
        OSError: the folder for temporary files cannot be written to.
    """
    path = Path(tempfile.gettempdir()) / f"coldwarm-measuring-{os.getuid()}.lock"
    # Not through a link: the folder is everybody's.
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def starts(measured: Measured, called: str) -> list[dict[str, Any]]:
    """Return the figures of fresh processes of the one function that was measured."""
    found = list(pyperf.document(exported(measured))["benchmarks"])
    for one in found:
        rest = one["metadata"]["name"].partition("/")[2]
        one["metadata"]["name"] = figures.told(f"{called}/{rest}")
    return found


def warm_call(result: BenchResult) -> str:
    """Return the figure of warm calls in this process, in words."""
    if result.warm is None or result.warm.call_s is None:
        return f"{result.name}, warm call: {result.reasons.get('warm', 'not measured')}"
    taken = result.warm.call_s
    steady = "" if result.warm.steady.steady else ", not steady"
    samples = counted(taken.n_samples, "sample")
    return f"{result.name}, warm call: {duration(taken.median)} ({samples} of 1 process{steady})"


def calls(test: str, result: BenchResult) -> list[dict[str, Any]]:
    """Return the warm calls of one process; none where none could be measured."""
    seen = result.in_process
    if seen is None or result.warm is None:
        return []
    date = str(datetime.fromisoformat(seen.started_at).replace(tzinfo=None))
    found = []
    for process in warm_processes([seen]):
        name = figures.told(f"{test} {result.name}/{WARM}/call")
        metadata = {"name": name, "unit": "second", "coldwarm_cache_mode": WARM}
        if not process.steadiness.steady:
            metadata["coldwarm_note"] = "calls were not steady"
        run = {
            "values": list(process.steadiness.samples),
            "metadata": {"loops": process.blocks[0].batch, "date": date},
        }
        found.append({"metadata": metadata, "runs": [run]})
    return found


def document(kept: Measurements, place: Environment) -> dict[str, Any]:
    """Return a file of pyperf: ``coldwarm compare`` reads it, and so does pyperf."""
    metadata = {
        "coldwarm_version": __version__,
        "python_implementation": platform.python_implementation().lower(),
        "python_version": platform.python_version(),
        "cpu_model_name": figures.told(place.cpu.model or ""),
        "platform": figures.told(place.platform),
    }
    return {
        "version": "1.0",
        "metadata": {name: value for name, value in metadata.items() if value},
        "benchmarks": kept.benchmarks,
    }


_T = TypeVar("_T")


def labels(baseline: Measured) -> dict[str, str]:
    """Return by target what a stored run calls it."""
    own = {name: case.protocol.own for name, case in baseline.cases.items()}
    return {one.target: name for name, one in own.items() if one is not None and one.target}


def by_target(made: Benchmarks, measured: Measured) -> Benchmarks:
    """Return the benchmarks of a run, each called by the target that was measured."""
    named = {label: target for target, label in labels(measured).items()}
    return replace(
        made,
        benchmarks=_renamed(made.benchmarks, named),
        failed=_renamed(made.failed, named),
        left_out=_renamed(made.left_out, named),
        short_names={},
    )


def _renamed(of: Mapping[str, _T], named: Mapping[str, str]) -> dict[str, _T]:
    split = ((name.partition("/"), one) for name, one in of.items())
    return {f"{named.get(head, head)}{slash}{rest}": one for (head, slash, rest), one in split}


TITLE = "coldwarm: measured"
_NOW = "this session"


def base(path: str) -> Benchmarks:
    """Read what a session is to be compared with.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, or of a kind that is not read.
    """
    found = opening.read(Path(path))
    if isinstance(found, Measured):
        return by_target(opening.of_run(found), found)
    return found


def refuse_place(path: str) -> None:
    """Refuse a file that cannot be written, before anything is measured.

    Raises:
        UsageError: it cannot.
    """
    place = Path(path)
    if place.is_dir():
        raise UsageError(f"--coldwarm-save {path} is a folder; name a file, such as base.json")
    if not place.absolute().parent.is_dir():
        raise UsageError(f"--coldwarm-save {path}: its folder is not there; make it first")


def lines(
    kept: Measurements, width: int, *, save: str | None, against: Benchmarks | None
) -> Iterator[str]:
    """Write the file; yield what is printed at the end."""
    for test, line in kept.lines:
        yield f"{test}: {line}"
    if not kept.benchmarks:
        if save is not None or against is not None:
            yield (
                "no test has measured anything, so there is nothing to save or to compare: a test"
                " measures by the fixture `coldwarm`, coldwarm.warm(f, x) or coldwarm.assert_ttfr"
            )
        return
    made = document(kept, environment.collect())
    if against is not None:
        yield from _compared(against, made, save or _NOW, width)
    if save is not None:
        yield _saved(made, Path(save))


def _saved(made: dict[str, Any], path: Path) -> str:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(figures.json_bytes(made))
        part.replace(path)
    except OSError as error:
        return f"--coldwarm-save {path}: not written: {error.strerror}"
    return f"saved in {path}; to compare: coldwarm compare {path} OTHER"


def _compared(against: Benchmarks, made: dict[str, Any], name: str, width: int) -> Iterator[str]:
    try:
        now = pyperf.READER.benchmarks(Opened(name, "", made))
        found = compare_results([against], [now], Policy())
    except IncomparableError as error:
        yield from ListedError(comparison_text.refused(error)).lines
        return
    except ColdwarmError as error:
        yield from error.lines
        return
    said = comparison_text.document(without_secrets(found), everything=True)
    yield from terminal.text(said, width).splitlines()
