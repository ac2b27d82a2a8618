"""A block of code asks the doctor, in its own process, inside of other blocks and of programs."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests import started

import coldwarm as package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.doctor import DoctorReport

coldwarm: Any = package
jax = pytest.importorskip("jax")
jnp = jax.numpy
HAS_MONITORING = sys.version_info >= (3, 12)


def new_step() -> Callable[..., object]:
    def step(x: object, rate: float) -> object:
        return x * rate  # type: ignore[operator] # an array

    found: Callable[..., object] = jax.jit(step, static_argnames="rate")
    return found


def compiles(report: DoctorReport) -> dict[str, int]:
    found: Counter[str] = Counter()
    for one in report.sites:
        found[one.function] += one.n_compiles
    return dict(found)


def test_a_block_says_what_happened_inside_of_it() -> None:
    step, x = new_step(), jnp.ones(3)
    step(x, rate=100.0)
    with coldwarm.doctor() as d:
        for turn in range(5):
            step(x, rate=0.5 + turn)
    step(x, rate=200.0)
    report = d.report
    (found,) = report.findings
    assert found.pattern == "varying-static-arg"
    assert found.path == __file__
    assert found.source == "step(x, rate=0.5 + turn)"
    assert compiles(report) == {"new_step.step": 5}
    assert found.cause is not None
    assert found.cause.n_values == 5
    assert report.exit_status is None
    account = report.account
    assert 0 < account.compile_s < account.total_s
    assert account.import_s is None
    assert account.null_reasons["import_s"].code == "imported_before"
    assert account.null_reasons["devices_s"].code in {"devices_before", "needs_monitoring"}
    assert {"imported_before", "devices_before"} <= {one.code for one in report.unseen}


def test_it_is_printed_shown_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    with coldwarm.doctor() as d:
        new_step()(jnp.ones(3), rate=1.0)
    d.show()
    said = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines()).rstrip()
    assert said == str(d)
    assert "were compiling" in said
    for name in ("a.json", "a.html", "a.txt"):
        d.save(tmp_path / name)
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))["sites"]
    assert "new_step.step" in (tmp_path / "a.html").read_text("utf-8")
    assert (tmp_path / "a.txt").read_text("utf-8") == f"{d}\n"
    assert "<script" not in d._repr_html_()
    with pytest.raises(coldwarm.ColdwarmError, match=r"must end with \.json, \.html or \.txt"):
        d.save(tmp_path / "a.xml")
    with pytest.raises(coldwarm.ColdwarmError, match="cannot be written"):
        d.save(tmp_path / "missing" / "a.json")


def test_a_doctor_is_for_one_block_and_says_nothing_before_its_end() -> None:
    d = coldwarm.doctor()
    with d:
        assert "inside" in repr(d)
        assert d._repr_html_() is None
        with pytest.raises(coldwarm.ColdwarmError, match="when the block"):
            d.report  # noqa: B018 - it raises
    with pytest.raises(coldwarm.ColdwarmError, match="has had its block"), d:
        pass


def test_an_error_goes_through_and_the_report_is_there() -> None:
    @jax.jit  # type: ignore[untyped-decorator] # JAX is taken where it is
    def choose(x: object) -> object:
        return x if x > 0 else -x  # type: ignore[operator] # an array

    d = coldwarm.doctor()
    with pytest.raises(jax.errors.TracerBoolConversionError), d:
        choose(jnp.ones(()))
    (found,) = d.report.findings
    assert found.pattern == "traced-branch"
    assert "return x if x > 0 else -x" in found.source


def test_blocks_in_blocks_are_each_right() -> None:
    step, x = new_step(), jnp.ones(3)
    with coldwarm.doctor() as outer:
        step(x, rate=1.0)
        with coldwarm.doctor() as inner:
            step(x, rate=2.0)
            step(x, rate=3.0)
        step(x, rate=4.0)
    assert compiles(inner.report) == {"new_step.step": 2}
    assert compiles(outer.report) == {"new_step.step": 4}
    assert inner.report.account.total_s < outer.report.account.total_s
    assert inner.report.account.compile_s < outer.report.account.compile_s


def test_blocks_that_overlap_are_each_right() -> None:
    step, x = new_step(), jnp.ones(3)
    first, second = coldwarm.doctor(), coldwarm.doctor()
    first.__enter__()
    step(x, rate=1.0)
    second.__enter__()
    step(x, rate=2.0)
    first.__exit__(None, None, None)
    step(x, rate=3.0)
    step(x, rate=4.0)
    second.__exit__(None, None, None)
    assert compiles(first.report) == {"new_step.step": 2}
    assert compiles(second.report) == {"new_step.step": 3}


def test_a_block_in_a_process_that_is_followed_anyway_leaves_that_as_it_was() -> None:
    program = """
import coldwarm, jax, jax.numpy as jnp, importlib
from coldwarm.doctor.record import recorder
find = importlib._bootstrap._find_and_load
reader = recorder.followed()
step, x = jax.jit(lambda x, k: x * k), jnp.ones(3)
for turn in range(2):
    with coldwarm.doctor() as d:
        step(x, 1.0 if turn else 1)
    assert d.report.sites[0].n_compiles == 1
(followed,) = recorder.recording
assert followed.journal.readers == (reader,)
assert not followed.sees_calls
assert importlib._bootstrap._find_and_load is find
step(x[:2], 1)
print(sum(row["kind"] == "stage" and row["stage"] == "compile" for row in reader.rows) >= 3)
"""
    assert run("-c", program) == "True\n"


def test_a_framework_that_comes_inside_of_the_block_is_followed() -> None:
    program = """
import coldwarm
with coldwarm.doctor() as d:
    import jax
    jax.jit(lambda x: x + 1)(1.0)
(site,) = d.report.sites
print(site.n_compiles, d.report.account.import_s > 0, d.report.versions["jax"] == jax.__version__,
      {one.code for one in d.report.unseen} - {"needs_monitoring"})
"""
    assert run("-c", program) == "1 True True set()\n"


def test_a_place_that_was_counted_often_is_told_to_a_block_that_comes_later() -> None:
    x = jnp.ones(3)
    step = new_step()

    def call(rate: float) -> None:
        step(x, rate=rate)

    before = coldwarm.doctor()
    with before:
        for turn in range(8):
            call(turn)
        with coldwarm.doctor() as d:
            for turn in range(4):
                call(100.0 + turn)
    assert compiles(d.report) == {"new_step.step": 4}
    assert compiles(before.report) == {"new_step.step": 12}
    if HAS_MONITORING:
        assert d.report.sites[0].n_calls == 4
        assert before.report.sites[0].n_calls == 12


def test_threads_that_compile_at_the_same_time_are_told_apart() -> None:
    begin = threading.Barrier(2)

    def first(x: object) -> object:
        return x @ x  # type: ignore[operator] # an array

    def second(x: object) -> object:
        return x + x  # type: ignore[operator] # an array

    def work(function: Callable[..., object], size: int) -> None:
        jitted = jax.jit(function)
        arrays = [jnp.ones((size + turn, size + turn)) for turn in range(6)]
        begin.wait()
        for one in arrays:
            jitted(one)

    with coldwarm.doctor() as d:
        threads = [threading.Thread(target=work, args=pair) for pair in ((first, 5), (second, 50))]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    by_name = {one.function.rpartition(".")[2]: one for one in d.report.sites}
    assert by_name["first"].n_compiles == by_name["second"].n_compiles == 6
    shapes = {
        one.text: (one.cause.before, one.cause.now)
        for one in d.report.findings
        if one.cause is not None and one.cause.kind == "shape"
    }
    for before, now in shapes.values():
        sizes = {int(one.partition("[")[2].partition(",")[0]) // 50 for one in (before, now)}
        assert len(sizes) == 1, "an argument of one thread was compared with one of the other"
    account = d.report.account
    parts = (account.trace_s, account.lower_s, account.compile_s, account.cache_s)
    assert sum(parts) <= account.total_s * 1.001


def test_everything_is_taken_off_at_the_end() -> None:
    program = """
import importlib, logging, sys, jax, jax.numpy as jnp
from jax._src import monitoring
def hooks():
    bootstrap = importlib._bootstrap
    tools = [sys.monitoring.get_tool(n) for n in range(6)] if hasattr(sys, "monitoring") else None
    lists = [list(one) for name, one in vars(monitoring).items() if name.endswith("_listeners")
             and isinstance(one, list)]
    return (bootstrap._find_and_load, list(sys.meta_path), tools, lists)
import coldwarm.doctor.block
step = jax.jit(lambda x: x + 1)
before = hooks()
for turn in range(2):
    with coldwarm.doctor():
        with coldwarm.doctor():
            step(jnp.ones(3 + turn))
        assert hooks() != before
    assert hooks() == before, (before, hooks())
if hasattr(sys, "monitoring"):
    code = hooks.__code__
    assert not any(sys.monitoring.get_local_events(n, code) for n in range(6) if n in (3, 4) and (
        sys.monitoring.use_tool_id(n, "test") is None))
print("off")
"""
    assert run("-c", program) == "off\n"


def test_a_block_in_a_watched_program_and_the_program_are_each_right(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import functools, coldwarm, jax, jax.numpy as jnp
@functools.partial(jax.jit, static_argnames="rate")
def step(x, rate):
    return x * rate
x = jnp.ones(3)
step(x, rate=100.0)
with coldwarm.doctor() as d:
    for turn in range(4):
        step(x, rate=float(turn))
step(x, rate=200.0)
d.save("inner.json")
""",
        encoding="utf-8",
    )
    command = ("doctor", "--json", "--out", "outer.json", "program.py")
    run("-m", "coldwarm", *command, cwd=tmp_path)
    counts = {}
    for name in ("inner", "outer"):
        report = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
        counts[name] = sum(
            one["n_compiles"] for one in report["sites"] if one["function"] == "step"
        )
        calls = sum(one["n_calls"] or 0 for one in report["sites"] if one["function"] == "step")
        assert calls == (counts[name] if HAS_MONITORING else 0)
    assert counts == {"inner": 4, "outer": 6}


def test_a_doctor_that_a_watched_program_starts_is_right_too(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text(
        "import jax\nfor n in range(5): jax.jit(lambda x: x)(jax.numpy.ones(n + 1))\n"
    )
    (tmp_path / "outer.py").write_text(
        "import subprocess, sys, jax\nfor n in range(2): jax.jit(lambda x: x + 1)(float(n))\n"
        "command = [sys.executable, '-m', 'coldwarm', 'doctor', '--json', '--out']\n"
        "subprocess.run([*command, 'inner.json', 'inner.py'], check=True)\n"
    )
    command = ("doctor", "--json", "--passes", "all", "--out", "outer.json", "outer.py")
    run("-m", "coldwarm", *command, cwd=tmp_path)
    counts = {}
    for name in ("inner", "outer"):
        report = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
        lambdas = [one for one in report["sites"] if "lambda" in one["function"]]
        assert all(one["path"] == str(tmp_path / f"{name}.py") for one in report["sites"])
        counts[name] = sum(one["n_compiles"] for one in lambdas)
    assert counts == {"inner": 5, "outer": 2}


def test_the_name_is_that_of_a_package_that_can_be_called() -> None:
    assert callable(coldwarm.doctor)
    assert isinstance(coldwarm.doctor(), coldwarm.DoctorBlock)
    assert coldwarm.doctor is importlib.import_module("coldwarm.doctor")


def run(*arguments: str, cwd: Path | None = None) -> str:
    done = started.python([sys.executable, *arguments], cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()
