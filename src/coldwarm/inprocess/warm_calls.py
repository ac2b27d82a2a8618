"""Warm calls in this process, in the loop that a measured process has, with nothing left behind.

The arguments that were given are never called with: a call might change them, or give them away.
What is printed and drawn meanwhile is kept back.
"""

from __future__ import annotations

import io
import os
import statistics
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import convert
from msgspec.structs import replace

from coldwarm.backends.base import outside_heap
from coldwarm.caches.modes import EVERY_CALL, judge_blocks
from coldwarm.clock import TIME
from coldwarm.contracts.observation import Block, Judgement, Observation, OtherCalls
from coldwarm.contracts.reasons import Reason, because
from coldwarm.errors import UsageError
from coldwarm.frameworks.settings import told
from coldwarm.functions import other_calls, unfinished, values, varying
from coldwarm.functions.backend import UserFunction
from coldwarm.functions.unfinished import Pending, UnfinishedError
from coldwarm.report.sentences import with_advice
from coldwarm.runner import machine_settings, replies
from coldwarm.runner.case_list import BLOCK_LIMIT, batch_for, block_seconds
from coldwarm.stats.steady import FEWEST_SAMPLES, detect
from coldwarm.worker.candidate import Prepared
from coldwarm.worker.loop import WarmLoop, is_glibc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from _typeshed import ReadableBuffer

    from coldwarm.functions.arguments import Call


_BLOCK_S = 0.1
_BLOCKS = 10
"""Blocks of warm calls at least; three times as many where the calls are not steady."""
_FEWEST_BLOCKS = 3
"""Blocks in which every call compiled, after which no other would do otherwise."""
_FIRST_BLOCK_S = 0.05
_SHARED = because("shared_process")
_now_s, _now_ns = TIME.perf_counter, TIME.perf_counter_ns


@dataclass(frozen=True)
class InProcess:
    """Measurements of a function in this process."""

    observation: Observation | None
    """``None``: no warm calls were asked for."""
    first_call_s: float
    output: list[np.ndarray[Any, Any]]
    """Comparable parts of the first call's output, on the host."""
    renewed: bool
    """Whether each call got new arguments."""
    repeats: bool
    """Whether the second call gave the first one's answer."""
    doubt: Reason | None = None
    """Why it is not known whether its result is there."""


class _Here(UserFunction):
    """A function of this process, with the arguments that it was given."""

    def __init__(
        self, function: Callable[..., Any], call: Call, sync: Callable[[Any], Any] | None
    ) -> None:
        """Look what is at work before the first call."""
        super().__init__("cpu")
        self._names = varying.names_of(function, call)
        self._sync = sync
        self.take_call(function, call, changing=False)
        self._pending = Pending()
        self._pending.wait()

    def take_call(self, function: Callable[..., Any], call: Call, *, changing: bool) -> None:
        """Measure a call from now on; ``changing``: it changes its arguments."""
        spec = {"kind": "function", "mutates": changing, "sync": self._sync is not None}
        self.adopt(spec, function, call, None)

    def others(self, number: float) -> varying.Other:
        """Return the arguments with other data; the same number gives the same."""
        return varying.given(self._call.copied(), number, self._names)

    def once(self, call: Call) -> tuple[Any, float, Reason | None]:
        """Call once; return what it returned, the seconds, and why it may not be there."""
        function = self.finishing(self._function)
        begin_s = _now_s()
        out = function(*call.positional, **call.named)
        unfinished.wait(out)
        spent_s = _now_s() - begin_s
        self.refuse_pending()
        doubt = self.doubted(out, spent_s)
        return out, spent_s, None if doubt is None else convert(doubt, Reason)

    def prepared(self) -> Prepared:
        """Return what the blocks need, as a measured process has it after its first two calls."""
        renew = self.renew
        arguments = self._call.flat if renew is None else renew()
        return Prepared({"reference": None}, self, self, self.finishing(self._function), arguments)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the frameworks that are loaded, and those that come; leave nothing behind.

        None is imported: only those that the user has loaded can compile anything.
        """
        try:
            self._arrivals.begin()
            yield
        finally:
            self._arrivals.end()


class _Blocks:
    """The blocks of warm calls in this process, and calls as the timed loop does not make them."""

    def __init__(self, here: _Here, began_ns: int) -> None:
        """Prepare the loop. The allocator and the collector stay as the program has them."""
        self._prepared = here.prepared()
        self._warm = WarmLoop(self._prepared, alone=False, clock=_now_ns)
        self._backend, self._began_ns = here, began_ns
        self.taken: list[Block] = []

    def take(self, ends_s: float | None) -> None:
        """Take blocks until the calls are steady, or enough was tried."""
        blocks = self.taken
        self._block(1, _FIRST_BLOCK_S)
        later = blocks[0].samples_s[len(blocks[0].samples_s) // 2 :]
        call_s = statistics.median(later)
        batch = 1 if self._prepared.renew is not None else batch_for(call_s)
        seconds = block_seconds(call_s, _BLOCK_S)
        while len(blocks) <= 3 * _BLOCKS:
            self._block(batch, seconds)
            clean = [one.samples_s for one in blocks if one.compiles == 0 and one.batch == batch]
            enough = sum(map(len, clean)) >= FEWEST_SAMPLES
            every = len(blocks) >= _FEWEST_BLOCKS and judge_blocks(blocks).reason.code == EVERY_CALL
            late = ends_s is not None and _now_s() >= ends_s
            if every or (late and (enough or len(blocks) >= _BLOCKS)):
                break
            if len(blocks) > _BLOCKS and enough and detect(clean).steady:
                break

    def _block(self, batch: int, seconds: float) -> None:
        reply = self._warm.block({"batch": batch, "limit": BLOCK_LIMIT, "seconds": seconds})
        made = convert(reply, replies.BlockReply).block(len(self.taken), self._began_ns)
        shared = dict.fromkeys(("idle_cpu_s", "cpu_s", "wall_s", "bound_to"), _SHARED)
        unknown = dict.fromkeys(("idle_cpu_s", "cpu_s", "wall_s"))
        self.taken.append(replace(made, **unknown, null_reasons={**made.null_reasons, **shared}))

    def others(self) -> OtherCalls:
        """Call as the timed loop does not."""
        prepared, backend = self._prepared, self._backend
        found = other_calls.measure(
            prepared.call, prepared.fresh, backend.others, backend.compiles_so_far
        )
        reply = {"type": "other_calls", **found, "unchecked": because("no_reference")}
        return convert(reply, replies.OtherCallsReply).calls()


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
    try:
        here = _Here(function, call, sync)
        given = call.copied()
        before = values.digest(list(given.flat))
        out, first_s, doubt = here.once(given)
        # A function may hand out a buffer that its next call writes to.
        answer = values.OutputValues(out)
        digest, kept = answer.digest(), outside_heap(answer.arrays)
        del out, answer
        changed = given.gone or values.digest(list(given.flat)) != before
        again, _, _ = here.once(call.copied() if changed else given)
        repeats = values.OutputValues(again).digest() == digest
        del again
        if not warm:
            return InProcess(None, first_s, kept, changed, repeats, doubt)
        here.take_call(function, call if changed else given, changing=changed)
        with here.watching():
            blocks = _Blocks(here, began_ns)
            blocks.take(ends_s)
            others = blocks.others()
    except UnfinishedError as error:
        raise UsageError(with_advice(convert(error.coded_reason, Reason))) from None
    wall_s = (_now_ns() - began_ns) / 1e9
    seen = _observation(name, started_at, wall_s, blocks.taken, others)
    return InProcess(seen, first_s, kept, changed, repeats, doubt)


def _observation(
    name: str, started_at: str, wall_s: float, blocks: list[Block], others: OtherCalls
) -> Observation:
    clean = sum(block.compiles == 0 for block in blocks)
    judged = judge_blocks(blocks).reason
    if judged.code != EVERY_CALL:
        judged = because("clean_blocks", n_clean=clean, n_blocks=len(blocks))
    return Observation(
        case=name,
        cache_mode="warm_process",
        round=0,
        attempt=0,
        order=0,
        status="ok",
        started_at=started_at,
        allocator="as_it_is" if is_glibc() else None,
        wall_s=wall_s,
        blocks=blocks,
        other_calls=others,
        settings=_settings(),
        judgements={"warm_process": Judgement(proved=clean > 0, reason=judged)},
        null_reasons={} if is_glibc() else {"allocator": because("no_glibc")},
    )


def _settings() -> dict[str, str]:
    """Return what is set in this process and may change what it shows."""
    seen = told() or {"configured": {}, "loaded": []}
    every = {**machine_settings.known(os.environ), **seen["configured"]}
    return machine_settings.relevant(every, seen["loaded"])


_TAIL_BYTES = 16 * 1024


class _Tail(io.RawIOBase):
    """Keeps the end of what is written."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept = bytearray()

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all."""
        taken = bytes(data)
        self._kept += taken
        if len(self._kept) > 2 * _TAIL_BYTES:
            del self._kept[:-_TAIL_BYTES]
        return len(taken)

    def text(self) -> str:
        """Return the end of it, from the beginning of a line on."""
        last = bytes(self._kept[-_TAIL_BYTES:])
        if len(last) < len(self._kept):
            last = last.partition(b"\n")[2]
        return last.decode("utf-8", "replace")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Python prints and draws; where an error ends it, show the end of the prints."""
    tail = _Tail()
    stream = io.TextIOWrapper(io.BufferedWriter(tail), encoding="utf-8", errors="replace")
    try:
        with redirect_stdout(stream), redirect_stderr(stream), _no_displays(), _no_figures():
            yield
    except BaseException:
        stream.flush()
        sys.stderr.write(tail.text())
        raise


@contextmanager
def _no_displays() -> Iterator[None]:
    """Publish nothing in a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    publisher: Any = getattr(shell, "display_pub", None)
    if not hasattr(publisher, "register_hook"):
        yield
        return
    publisher.register_hook(_dropped)
    try:
        yield
    finally:
        publisher.unregister_hook(_dropped)


def _dropped(_message: object) -> None:
    """Publish nothing: what a hook returns is published."""


@contextmanager
def _no_figures() -> Iterator[None]:
    """Close the figures of Matplotlib that are new: a notebook shows all that are open."""
    before = _figures()
    try:
        yield
    finally:
        for number in _figures() - before:
            sys.modules["matplotlib.pyplot"].close(number)


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())
