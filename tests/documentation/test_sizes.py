"""What the essay says of ten jobs by size follows from the samples that are committed."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from benchmarks import jobs_alone
from tests.started import coldwarm

SIZES = Path(__file__).resolve().parents[2] / "docs" / "results" / "sizes"


@pytest.mark.slow
def test_what_the_essay_shows_follows_from_its_samples(tmp_path: Path) -> None:
    with tarfile.open(SIZES / "jobs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    committed = sorted(SIZES.glob("*.json"))
    assert len(committed) == 10
    for one in committed:
        done = coldwarm("show", one.stem, "--format", "json", cwd=tmp_path / "jobs")
        assert done.returncode == 0, done.stderr
        assert done.stdout == one.read_text("utf-8"), one.stem


def swept(job: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SIZES / f"{job}.json").read_text("utf-8"))["slices"][0]
    return found


def ratios(job: str, of: str, to: str = "") -> dict[int, float]:
    """Return by size a median over another; ``to``: empty is the shortest."""
    return {
        point["size"]: point["call"][of]["median"]
        / (point["call"][to]["median"] if to else min(v["median"] for v in point["call"].values()))
        for point in swept(job)["points"]
    }


def test_what_the_essay_says_of_calls_is_what_was_measured() -> None:
    text = (SIZES.parents[1] / "explanation" / "when-jax-wins.md").read_text("utf-8")
    steps = ("ode", "stencil")
    jax = [one for job in steps for one in ratios(job, "jax", "numba").values()]
    numpy = [one for job in steps for one in ratios(job, "numpy", "numba").values()]
    assert f"takes {min(jax):.1f} to {max(jax):.1f} times as long" in text
    assert f"NumPy {min(numpy):.1f} to {max(numpy):.0f} times" in text
    torch = ratios("training", "torch", "jax").values()
    assert f"PyTorch takes {min(torch):.1f} to {max(torch):.1f} times as long as JAX" in text
    beyond = [
        one
        for of in ("numpy", "torch", "jax")
        for size, one in ratios("products", of).items()
        if size > 174
    ]
    assert f"all three within {100 * (max(beyond) - 1):.0f} %" in text


def test_what_the_essay_says_of_another_processor_is_what_was_measured() -> None:
    text = (SIZES.parents[1] / "explanation" / "when-jax-wins.md").read_text("utf-8")
    rows = json.loads(jobs_alone.RESULTS.read_text("utf-8"))["rows"]
    others = [one for one in rows if one["framework"] != "numpy"]
    points = [
        jobs_alone.Point(**{name: one[name] for name in jobs_alone.Point.__dataclass_fields__})
        for one in others
    ]
    apart = [not p.agrees(one["script_ratio"]) for p, one in zip(points, others, strict=True)]
    assert f"of {len(others)} ratios to NumPy\n[{sum(apart)} differ]" in text
    (chain,) = (
        one["script_ratio"]
        for one in others
        if (one["job"], one["size"], one["framework"]) == ("chain", 1_000_000, "jax")
    )
    assert chain == pytest.approx(1, abs=0.05)
    here = ratios("chain", "jax", "numpy")[1_000_000]
    assert f"takes JAX {here:.1f} times as long as NumPy below, and as long there" in text


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("least_squares", {"numba": (100, 1580), "numpy": (3420, 20000)}),
        ("chain", {"numba": (100, 528), "numpy": (787, 1000000)}),
        ("products", {"numpy": (16, 174)}),
        ("training", {"numpy": (8, 98), "jax": (112, 512)}),
        ("attention", {"numpy": (16, 35), "jax": (44, 91)}),
        ("roots", {"numpy": (3160, 100000)}),
    ],
)
def test_who_the_essay_calls_the_fastest_is_so(job: str, said: dict[str, tuple[int, int]]) -> None:
    warm = next(one for one in swept(job)["by_size"] if one["reading"] is None)
    sure = {(one["cheapest"], one["from_size"], one["to_size"]) for one in warm["ranges"]}
    assert {(name, *sizes) for name, sizes in said.items()} <= sure
