"""Figures and a table for the essay *When does JAX win?*, from the committed evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from _generate import evidence, figures, measured
from _generate.rst import plain, table
from coldwarm.catalogue.spec import claims
from coldwarm.report.verdict_table import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from _generate.evidence import Evidence
    from coldwarm.contracts.catalogue import Bound


class Job(NamedTuple):
    """A figure of a claim, in words of the essay."""

    words: str
    claim: str
    figure: str
    """Its name in the claim's result."""


AGAINST_TORCH = (
    Job("Hessian of 60 numbers, by double backward", "hessian-cost", "torch_double_backward over"),
    Job("the same Hessian, by torch.func", "hessian-cost", "torch_func over jax"),
    Job("50 steps of Runge and Kutta on 8 numbers", "typical-speedup", "steps_torch over"),
    Job("gradients of 128 examples", "per-example-gradients-loop", "torch_loop over"),
    Job("ten operations on 200,000 numbers", "typical-speedup", "elementwise_torch over"),
    Job("loss and gradient of a small MLP", "typical-speedup", "training_torch over"),
    Job("attention, 64 tokens", "typical-speedup", "attention_torch over"),
    Job("ten products of 256 × 256 matrices", "typical-speedup", "products_torch over"),
)
"""Eager PyTorch over jitted JAX."""
AGAINST_EAGER = (
    Job("trust region in 50 variables", "iterative-solvers-gain-most", "trust_region"),
    Job("L-BFGS in 50 variables", "iterative-solvers-gain-most", "lbfgs_eager"),
    Job("a training step of a small MLP", "iterative-solvers-gain-most", "training_eager"),
    Job("products of matrices", "iterative-solvers-gain-most", "products_eager"),
)
"""JAX without ``jit`` over JAX with it."""
STARTS = (
    Job("first call of a small MLP", "first-call-small-mlp", "first_call: first_s"),
    Job("compiling on this CPU", "compiling-cpu-fast", "compiling: compiling_s"),
    Job("dispatch of one jitted call", "dispatch-cpu-low", "dispatch: call_s"),
    Job("steps until half is compiling", "compiling-dominates-short-loops", "loop: steps"),
    Job("a new shape, over a known one", "new-shape-recompiles", "sizes: ratio"),
    Job("an empty cache over a filled one", "sensitive-to-caching", "of_jax: ratio"),
)
"""What starting costs."""


def parts(package: Path) -> dict[str, str]:
    """Return the parts that the essay includes."""
    every = evidence.stored(package)
    main = every[0] if every else None
    return {
        "against_torch": _drawn("torch", "Eager PyTorch over jitted JAX", AGAINST_TORCH, main),
        "against_eager": _drawn("eager", "JAX without jit over with it", AGAINST_EAGER, main),
        "starts": _starts(main),
        "verdicts": _verdicts(main),
    }


def _drawn(name: str, title: str, jobs: Sequence[Job], main: Evidence | None) -> str:
    rows = [
        figures.Row(job.words, measured.interval(one), one.value, one.low, one.high, "main")
        for job, one in sorted(_found(jobs, main), key=lambda pair: -pair[1].value)
    ]
    if not rows:
        return measured.NOTHING_YET
    # What is included may have no lines as long as those of a drawing.
    return figures.drawn(f"essay-{name}", title, rows, "ratio").replace("><", ">\n   <")


def _starts(main: Evidence | None) -> str:
    rows = [
        (f":ref:`{plain(job.words)} <claim-{job.claim}>`", measured.interval(one))
        for job, one in _found(STARTS, main)
    ]
    return table(("what", "here"), rows, "measured") if rows else measured.NOTHING_YET


def _verdicts(main: Evidence | None) -> str:
    """Return how many claims of each article had which verdict."""
    if main is None or not main.claims:
        return measured.NOTHING_YET
    kinds = (
        "confirmed",
        "refuted",
        "depends",
        "inconclusive",
        "outdated",
        "transferred",
        "withdrawn",
        "not_tested",
    )
    counts: dict[str, dict[str, int]] = {}
    for name, one in main.claims.items():
        if name in claims():
            under = counts.setdefault(claims()[name].article.article, dict.fromkeys(kinds, 0))
            under[one.verdict] = under.get(one.verdict, 0) + 1
    rows = [(article, *(str(of[kind]) for kind in kinds)) for article, of in sorted(counts.items())]
    return table(("article", *(VERDICTS[kind][0] for kind in kinds)), rows, "measured")


def _found(jobs: Sequence[Job], main: Evidence | None) -> Iterator[tuple[Job, Bound]]:
    """Yield the figures of jobs that were measured."""
    for job in jobs:
        result = main.claims.get(job.claim) if main else None
        for one in result.figures if result else ():
            if job.figure in one.name:
                yield job, one
                break
