"""Warm calls in this process, in the loop that a measured process has, with nothing left behind.

The user's own arguments are never called with: a call might change them, or give them away.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.observation import Block, Judgement, Observation
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.frameworks.base import loaded
from coldwarm.functions import values
from coldwarm.runner.schedule.batches import BLOCK_LIMIT, batch_for, block_seconds
from coldwarm.stats.steady import FEWEST_SAMPLES, detect
from coldwarm.worker.allocator import is_glibc
from coldwarm.worker.loop import make_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.frameworks.base import Watch
    from coldwarm.functions.arguments import Call

BLOCK_S = 0.1
BLOCKS = 10
"""Blocks of warm calls at least; three times as many where the calls are not steady."""
_FIRST_BLOCK_S = 0.05
_SHARED = because("shared_process")


@dataclass(frozen=True)
class InProcess:
    """What this process has shown of a function."""

    observation: Observation | None
    """``None``: no warm calls were asked for."""
    first_call_s: float
    output: Any
    """What the first call gave, on the host: its leaves."""
    renewed: bool
    """Whether each call got new arguments."""
    repeats: bool
    """Whether the second call gave the first one's answer."""


@dataclass
class _Warm:
    function: Callable[..., Any]
    call: Call
    renewing: bool
    waiters: list[Callable[[Any], None]]
    watches: Sequence[Watch]
    began_ns: int

    def __post_init__(self) -> None:
        """Make the loop. The allocator stays as the program has it."""
        self.loop = make_loop(
            len(self.call.flat),
            self.call.keywords,
            synchronous=not self.waiters,
            renewing=self.renewing,
        )

    def _compiles(self) -> int:
        return sum(watch.compiles_so_far() for watch in self.watches)

    def sync(self, out: object) -> None:
        for waiter in self.waiters:
            waiter(out)

    def block(self, order: int, batch: int, seconds: float) -> Block:
        """Time one block of calls."""
        compiles = self._compiles()
        before = resource.getrusage(resource.RUSAGE_SELF)
        arguments: Any = (lambda: self.call.copied().flat) if self.renewing else self.call.flat
        sync = self.waiters[0] if len(self.waiters) == 1 else self.sync
        budget_ns = int(seconds * 1e9)
        with _not_collecting():
            start_ns = time.perf_counter_ns()
            samples_ns = self.loop(
                time.perf_counter_ns,
                repeat,
                self.function,
                sync,
                arguments,
                batch,
                BLOCK_LIMIT,
                budget_ns,
            )
        after = resource.getrusage(resource.RUSAGE_SELF)
        return Block(
            order=order,
            start_s=(start_ns - self.began_ns) / 1e9,
            batch=batch,
            samples_s=[ns / batch / 1e9 for ns in samples_ns],
            compiles=self._compiles() - compiles,
            involuntary_switches=after.ru_nivcsw - before.ru_nivcsw,
            page_faults=after.ru_minflt - before.ru_minflt,
            null_reasons=dict.fromkeys(("idle_cpu_s", "cpu_s", "wall_s", "bound_to"), _SHARED),
        )


@contextmanager
def watching() -> Iterator[list[Watch]]:
    """Watch the frameworks that are loaded, and leave nothing behind at the end.

    None is imported: only those that the user has loaded can compile anything.
    """
    watches = loaded()
    with ExitStack() as stack:
        for watch in watches:
            stack.callback(watch.uninstall)
            watch.install()
        yield watches


@contextmanager
def _not_collecting() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def measure(
    function: Callable[..., Any], call: Call, name: str, *, warm: bool, ends_s: float | None
) -> InProcess:
    """Call a function, and time it while it is warm.

    ``ends_s``: when the time is over, on the clock of ``time.perf_counter``; the first two
    calls and five warm samples are taken all the same.

    Raises:
        UsageError: it returns something that is not finished by returning.
    """
    began_ns, started_at = time.perf_counter_ns(), datetime.now(UTC).isoformat()
    given = call.copied()
    before = values.digest(list(given.flat))
    out, first_s = _once(function, given)
    # A function may hand out a buffer that its next call writes to.
    digest, waiters, out = values.digest(out), values.waiters(out), values.on_host(out)
    changed = given.gone or values.digest(list(given.flat)) != before
    again, _ = _once(function, call.copied() if changed else given)
    repeats = values.digest(again) == digest
    del again
    if not warm:
        return InProcess(None, first_s, out, changed, repeats)
    with watching() as watches:  # by now the function has imported what it needs
        calls = _Warm(function, call if changed else given, changed, waiters, watches, began_ns)
        blocks = _blocks(calls, ends_s)
    clean = sum(block.compiles == 0 for block in blocks)
    reason = because("clean_blocks", n_clean=clean, n_blocks=len(blocks))
    observation = Observation(
        case=name,
        cache_mode="warm_process",
        round=0,
        attempt=0,
        order=0,
        status="ok",
        started_at=started_at,
        allocator="as_it_is" if is_glibc() else None,
        wall_s=(time.perf_counter_ns() - began_ns) / 1e9,
        blocks=blocks,
        judgements={"warm_process": Judgement(proved=clean > 0, reason=reason)},
        null_reasons={} if is_glibc() else {"allocator": because("no_glibc")},
    )
    return InProcess(observation, first_s, out, changed, repeats)


def _once(function: Callable[..., Any], call: Call) -> tuple[Any, float]:
    begin_s = time.perf_counter()
    out = function(*call.positional, **call.named)
    values.wait(out)
    spent_s = time.perf_counter() - begin_s
    try:
        values.refuse_unfinished(out)
    except values.UnfinishedError as error:
        raise UsageError(str(error)) from None
    return out, spent_s


def _blocks(calls: _Warm, ends_s: float | None) -> list[Block]:
    """Take blocks until the calls are steady, or enough was tried."""
    gc.collect()
    blocks = [calls.block(0, 1, _FIRST_BLOCK_S)]
    later = blocks[0].samples_s[len(blocks[0].samples_s) // 2 :]
    call_s = statistics.median(later)
    batch = 1 if calls.renewing else batch_for(call_s)
    seconds = block_seconds(call_s, BLOCK_S)
    while len(blocks) <= 3 * BLOCKS:
        blocks.append(calls.block(len(blocks), batch, seconds))
        clean = [one.samples_s for one in blocks if one.compiles == 0 and one.batch == batch]
        enough = sum(map(len, clean)) >= FEWEST_SAMPLES
        if enough and ends_s is not None and time.perf_counter() >= ends_s:
            break
        if len(blocks) > BLOCKS and enough and detect(clean).steady:
            break
    return blocks
