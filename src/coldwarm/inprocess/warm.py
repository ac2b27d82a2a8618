"""Warm calls in this process, in the loop that a measured process has, with nothing left behind.

The user's own arguments are never called with: a call might change them, or give them away.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any

from msgspec import convert

from coldwarm.backends.memory import outside_heap
from coldwarm.caches.modes import EVERY_CALL, judge_blocks
from coldwarm.clock import TIME
from coldwarm.contracts.observation import Block, Judgement, Observation, OtherCalls
from coldwarm.contracts.reasons import Reason, because
from coldwarm.errors import UsageError
from coldwarm.frameworks.arrivals import Arrivals
from coldwarm.frameworks.settings import told
from coldwarm.functions import other_calls, values, varying, waiting
from coldwarm.functions.unfinished import Pending, UnfinishedError, refuse_result
from coldwarm.report.sentences import with_advice
from coldwarm.runner import observe, replies, settings
from coldwarm.runner.cases import BLOCK_LIMIT, batch_for, block_seconds
from coldwarm.stats.steady import FEWEST_SAMPLES, detect
from coldwarm.worker.loop import is_glibc, make_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from coldwarm.functions.arguments import Call

BLOCK_S = 0.1
BLOCKS = 10
"""Blocks of warm calls at least; three times as many where the calls are not steady."""
_FEWEST_BLOCKS = 3
"""Blocks in which every call compiled, after which no other would do otherwise."""
_FIRST_BLOCK_S = 0.05
_SHARED = because("shared_process")
_now_s, _now_ns = TIME.perf_counter, TIME.perf_counter_ns


@dataclass(frozen=True)
class InProcess:
    """What this process has shown of a function."""

    observation: Observation | None
    """``None``: no warm calls were asked for."""
    first_call_s: float
    output: list[np.ndarray[Any, Any]]
    """What can be compared of the first call's output, on the host."""
    renewed: bool
    """Whether each call got new arguments."""
    repeats: bool
    """Whether the second call gave the first one's answer."""
    doubt: Reason | None = None
    """Why it is not known whether its result is there."""


@dataclass
class _Warm:
    function: Callable[..., Any]
    names: list[str]
    call: Call
    renewing: bool
    sync: Callable[[Any], None]
    arrivals: Arrivals
    began_ns: int
    pending: Pending

    def __post_init__(self) -> None:
        """Make the loop. The allocator stays as the program has it."""
        self.make_loop()

    def make_loop(self) -> None:
        """Make it for what may be computing by now."""
        self.synchronous = not waiting.may_go_on()
        self.loop = make_loop(
            len(self.call.flat),
            self.call.keywords,
            synchronous=self.synchronous,
            renewing=self.renewing,
        )

    def others(self) -> OtherCalls:
        """Call as the timed loop does not."""
        keywords = self.call.keywords

        def call(flat: tuple[Any, ...]) -> object:
            positional = flat[: len(flat) - len(keywords)]
            named = dict(zip(keywords, flat[len(positional) :], strict=True))
            out = self.function(*positional, **named)
            self.sync(out)
            return out

        def usual() -> tuple[Any, ...]:
            return (self.call.copied() if self.renewing else self.call).flat

        def others(number: float) -> varying.Other:
            return varying.given(self.call.copied(), number, self.names)

        found = other_calls.measure(call, usual, others, self.arrivals.compiles_so_far)
        found["unchecked"] = because("no_reference")
        reply = convert({"type": "other_calls", **found}, replies.OtherCalls)
        return observe.other_calls(reply)

    def block(self, order: int, batch: int, seconds: float) -> Block:
        """Time one block of calls."""
        compiles = self.arrivals.compiles_so_far()
        before = resource.getrusage(resource.RUSAGE_SELF)
        arguments: Any = (lambda: self.call.copied().flat) if self.renewing else self.call.flat
        if self.synchronous and waiting.may_go_on():
            self.make_loop()
        budget_ns = int(seconds * 1e9)
        with _not_collecting():
            start_ns = _now_ns()
            samples_ns = self.loop(
                _now_ns,
                repeat,
                self.function,
                self.sync,
                arguments,
                batch,
                BLOCK_LIMIT,
                budget_ns,
            )
        after = resource.getrusage(resource.RUSAGE_SELF)
        compiled = self.arrivals.compiles_so_far()
        _refusing(self.pending.refuse)
        reasons = dict.fromkeys(("idle_cpu_s", "cpu_s", "wall_s", "bound_to"), _SHARED)
        gap = self.arrivals.gap
        if (compiled is None or compiles is None) and gap is not None:
            reasons["compiles"] = because(gap["code"], **gap["values"])
        return Block(
            order=order,
            start_s=(start_ns - self.began_ns) / 1e9,
            batch=batch,
            samples_s=[ns / batch / 1e9 for ns in samples_ns],
            compiles=None if compiled is None or compiles is None else compiled - compiles,
            involuntary_switches=after.ru_nivcsw - before.ru_nivcsw,
            page_faults=after.ru_minflt - before.ru_minflt,
            null_reasons=reasons,
        )


@contextmanager
def watching() -> Iterator[Arrivals]:
    """Watch the frameworks that are loaded, and those that come; leave nothing behind at the end.

    None is imported: only those that the user has loaded can compile anything.
    """
    arrivals = Arrivals()
    try:
        arrivals.begin()
        yield arrivals
    finally:
        arrivals.end()


@contextmanager
def _not_collecting() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def measure(  # noqa: PLR0913 - each is one choice, by name
    function: Callable[..., Any],
    call: Call,
    name: str,
    *,
    warm: bool,
    ends_s: float | None,
    sync: Callable[[Any], Any] | None = None,
) -> InProcess:
    """Call a function, and time it while it is warm.

    ``ends_s``: when the time is over, on the clock of ``time.perf_counter``; the first two
    calls and five warm samples are taken all the same. ``sync`` is called on each result inside
    the timed window; what it returns, unless that is ``None``, is the result.

    Raises:
        UsageError: it returns something that is not finished by returning.
    """
    began_ns, started_at = _now_ns(), datetime.now(UTC).isoformat()
    pending, named = Pending(), sync is not None
    pending.wait()
    names = varying.names_of(function, call)
    if sync is not None:
        function = waiting.finished_by(sync, function)
    given = call.copied()
    before = values.digest(list(given.flat))
    out, first_s, doubt = _once(function, given, pending, named=named)
    # A function may hand out a buffer that its next call writes to.
    answer = values.Answer(out)
    digest, kept = answer.digest(), outside_heap(answer.arrays)
    del out, answer
    changed = given.gone or values.digest(list(given.flat)) != before
    again, _, _ = _once(function, call.copied() if changed else given, pending, named=named)
    repeats = values.Answer(again).digest() == digest
    del again
    if not warm:
        return InProcess(None, first_s, kept, changed, repeats, doubt)
    with watching() as arrivals:
        calls = _Warm(
            function,
            names,
            call if changed else given,
            changed,
            waiting.waiter(),
            arrivals,
            began_ns,
            pending,
        )
        blocks = _blocks(calls, ends_s)
        others = calls.others()
    clean = sum(block.compiles == 0 for block in blocks)
    reason = because("clean_blocks", n_clean=clean, n_blocks=len(blocks))
    judged = judge_blocks(blocks)
    if judged.reason.code == EVERY_CALL:
        reason = judged.reason
    observation = Observation(
        case=name,
        cache_mode="warm_process",
        round=0,
        attempt=0,
        order=0,
        status="ok",
        started_at=started_at,
        allocator="as_it_is" if is_glibc() else None,
        wall_s=(_now_ns() - began_ns) / 1e9,
        blocks=blocks,
        other_calls=others,
        settings=_settings(),
        judgements={"warm_process": Judgement(proved=clean > 0, reason=reason)},
        null_reasons={} if is_glibc() else {"allocator": because("no_glibc")},
    )
    return InProcess(observation, first_s, kept, changed, repeats, doubt)


def _settings() -> dict[str, str]:
    """Return what is set in this process and may change what it shows."""
    seen = told() or {"configured": {}, "loaded": []}
    every = {**settings.known(os.environ), **seen["configured"]}
    return settings.relevant(every, seen["loaded"])


def _once(
    function: Callable[..., Any], call: Call, pending: Pending, *, named: bool
) -> tuple[Any, float, Reason | None]:
    begin_s = _now_s()
    out = function(*call.positional, **call.named)
    waiting.wait(out)
    spent_s = _now_s() - begin_s
    _refusing(pending.refuse)
    doubt = _refusing(lambda: refuse_result(out, named=named, call_s=spent_s))
    return out, spent_s, None if doubt is None else convert(doubt, Reason)


def _refusing(look: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    """Look whether calls are finished; return why that is not known.

    Raises:
        UsageError: they are not, in words.
    """
    try:
        return look()
    except UnfinishedError as error:
        reason = convert(error.coded_reason, Reason)
        raise UsageError(with_advice(reason)) from None


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
        every = len(blocks) >= _FEWEST_BLOCKS and judge_blocks(blocks).reason.code == EVERY_CALL
        late = ends_s is not None and _now_s() >= ends_s
        if every or (late and (enough or len(blocks) >= BLOCKS)):
            break
        if len(blocks) > BLOCKS and enough and detect(clean).steady:
            break
    return blocks
