"""``coldwarm bench`` as a user runs it: what it measures, and what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from coldwarm.contracts.reasons import because
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

X = ("--input", "x=f64[50,50]")
WARM, COLD = "--warm-only", "--cold-only"
FIT = """
    import numpy as np

    def fit(x):
        return (x * x).sum(axis=0)

    def other(x):
        return np.einsum("ij,ij->j", x, x)

    def wrong(x):
        return (x * x).sum(axis=0) + 1

    def slow(x):
        for _ in range(200):
            out = (x * x).sum(axis=0)
        return out

    def make():
        return fit, (np.ones((3, 3)),)

    def alone():
        return fit(np.ones((3, 3)))

    def make_many():
        return fit, ((np.ones((n, n)),) for n in (3, 4, 5))
"""


@pytest.fixture
def fit(desk: Desk) -> Desk:
    desk.write("fit.py", FIT)
    return desk


def test_two_functions_of_a_file(fit: Desk) -> None:
    code, report = fit.report("fit.py:fit", "mine=fit.py:other", *X)
    assert code == 0
    assert [one.candidate for one in report.candidates] == ["fit", "mine"]
    assert report.reference == "fit"
    assert report.complete
    assert {one.comparison.metric for one in report.verdicts} == {
        "cold_process_cold_cache.ttfr_s",
        "cold_process_warm_cache.ttfr_s",
        "warm.call_s",
    }
    for one in report.candidates:
        assert set(one.ttfr) == {"cold_process_cold_cache", "cold_process_warm_cache"}
        assert one.call is not None
        assert one.new_shape is None
        assert one.null_reasons["new_shape"] == because("one_shape")
    said = fit.own("mine")
    assert said["target"].endswith("fit.py:other")
    assert said["arguments"] == ["numpy float64[50, 50]"]
    assert said["outputs"] == ["float64[50]"]
    assert (said["checked"], said["last_checked"]) == ("against fit, to 1e-08", True)


def test_what_a_bench_leaves_can_be_shown_planned_and_compared(fit: Desk) -> None:
    asked = ("fit.py:fit", "mine=fit.py:other", *X, "--rounds", "2", "--max-rounds", "2")
    again = fit.path / "again"
    assert fit.bench(*asked).code == 0
    assert fit.bench(*asked, "--out", again).code == 0
    assert fit.command("validate", fit.out).code == 0
    shown = fit.command("show", fit.out, "--verbose")
    assert shown.code == 0
    assert "baseline: fit" in shown.out
    planned = fit.command("plan", fit.out, "--calls", "100")
    assert planned.code == 0, planned.err
    assert "mine" in planned.out
    compared = fit.command("compare", fit.out, again, "--format", "json")
    assert compared.code in {0, 1}, compared.err
    told = json.loads(compared.out)
    assert {one["case"] for one in told["metrics"]} == {"fit", "mine"}


def test_another_source_is_not_compared(fit: Desk) -> None:
    assert fit.bench("fit.py:fit", *X, COLD).code == 0
    fit.write("fit.py", FIT + "\n    number = 3\n")
    again = fit.path / "again"
    assert fit.bench("fit.py:fit", *X, COLD, "--out", again).code == 0
    done = fit.command("compare", fit.out, again)
    assert done.code == 2
    assert "source" in done.err


def test_a_function_of_a_module_that_is_installed(desk: Desk) -> None:
    inputs = ("--input", "a=f64[4,4]", "--input", "b=f64[4,4]")
    code, report = desk.report("numpy:dot", "numpy:matmul", *inputs, WARM)
    assert code == 0
    assert [one.candidate for one in report.candidates] == ["dot", "matmul"]
    assert report.candidates[0].null_reasons == {"new_shape": because("one_shape")}
    assert report.candidates[0].ttfr == {}


def test_a_factory(fit: Desk) -> None:
    code, report = fit.report("fit.py:make", WARM)
    assert (code, len(report.candidates), report.verdicts) == (0, 1, [])
    assert fit.own("make")["kind"] == "factory"


SIZED = """
import numpy as np


def make(n, slope=2.0):
    x = np.arange(float(n))
    return lambda x: slope * x, (x,)


def twice(n):
    return 2.0 * n
"""


def test_a_factory_is_given_numbers(desk: Desk) -> None:
    desk.write("sized.py", SIZED)
    code, report = desk.report("sized.py:make", "--input", "n=7", WARM)
    assert (code, report.candidates[0].status) == (0, "ok")
    said = desk.own("make")
    assert (said["kind"], said["given"]) == ("factory", {"n": 7})
    assert said["arguments"] == ["numpy float64[7]"]


def test_what_returns_a_number_for_a_number_is_a_function(desk: Desk) -> None:
    desk.write("sized.py", SIZED)
    assert desk.report("sized.py:twice", "--input", "n=7", WARM)[0] == 0
    said = desk.own("twice")
    assert (said["kind"], said["given"]) == ("function", {})
    assert "there is no input m" in desk.refused("sized.py:make", "--input", "m=7")


CURIOUS = """
import inspect
import sys

SOURCE = inspect.getsource(sys.modules["__main__"])


def twice(x):
    return 2.0 * x
"""


def test_a_program_that_reads_the_source_of_main_is_charged_with_no_file(desk: Desk) -> None:
    """Libraries look up the text of functions in the stack, and that of the runner is there."""
    desk.write("curious.py", CURIOUS)
    done = desk.bench("curious.py:twice", "--input", "x=f64[9]", WARM, "--json")
    assert done.code == 0, done.err
    assert "files_untried" not in done.out


def test_a_factory_beside_a_function_has_arguments_of_its_own(fit: Desk) -> None:
    code, report = fit.report("fit.py:alone", "fit.py:make", WARM)
    assert code == 0
    assert [one.status for one in report.candidates] == ["ok", "ok"]
    assert fit.own("alone")["arguments"] == []
    assert fit.own("make")["arguments"] == ["numpy float64[3, 3]"]


def test_a_generator_or_a_list_of_shapes_gives_new_shape_calls(fit: Desk) -> None:
    assert fit.report("fit.py:make_many", COLD)[1].candidates[0].new_shape is not None
    code, report = fit.report("fit.py:fit", "--input", "x=f64[9,9];[8,8]", COLD, "--out", "two")
    assert code == 0
    assert report.candidates[0].new_shape is not None
    assert report.candidates[0].call is None


def test_a_wrong_answer_fails_its_candidate_alone(fit: Desk) -> None:
    code, report = fit.report("fit.py:fit", "fit.py:wrong", "fit.py:other", *X)
    assert code == 3
    good, wrong, other = report.candidates
    assert (good.status, wrong.status, other.status) == ("ok", "failed", "ok")
    assert wrong.reason == because("correctness_gate")
    assert (wrong.ttfr, wrong.call, wrong.new_shape) == ({}, None, None)
    assert good.call is not None
    assert other.call is not None
    assert {one.candidate for one in report.verdicts} == {"other"}


def test_nothing_is_checked_where_that_is_asked_for(fit: Desk) -> None:
    code, report = fit.report("fit.py:fit", "fit.py:wrong", *X, WARM, "--no-check")
    assert code == 0
    assert all("--no-check" in one.checked for one in report.candidates)
    assert fit.own("wrong")["last_checked"] is False


def test_the_reference_can_be_another_than_the_first(fit: Desk) -> None:
    code, report = fit.report("fit.py:wrong", "fit.py:fit", *X, WARM, "--reference", "fit")
    assert (code, report.reference) == (3, "fit")
    assert [one.status for one in report.candidates] == ["failed", "ok"]
    said = fit.refused("fit.py:fit", *X, "--reference", "fitt", "--out", "two")
    assert "fitt" in said
    assert "fit" in said


MARKED = """
    import coldwarm

    @coldwarm.workload(inputs={"x": "f64[20]", "n": 2}, tolerance=0.5)
    def off(x, n):
        return x * n * 1.2

    @coldwarm.workload(reference=True)
    def exact(x, n):
        return x * n

    @coldwarm.workload
    def bad(x, n):
        return x * n * 1.2
"""


def test_a_file_alone_names_what_it_marks(desk: Desk) -> None:
    desk.write("marked.py", MARKED)
    code, report = desk.report("marked.py", WARM)
    assert [one.candidate for one in report.candidates] == ["off", "exact", "bad"]
    assert report.reference == "exact"
    assert [one.status for one in report.candidates] == ["ok", "ok", "failed"]
    assert code == 3
    assert desk.own("off")["checked"] == "against exact, to 0.5"
    desk.write("other.py", MARKED.replace("f64[20]", "f64[30]").replace("reference=True", ""))
    assert "different inputs" in desk.refused("marked.py", "other.py", "--out", "two")
    desk.write("third.py", MARKED)
    both = desk.refused("marked.py", "third.py", "--out", "two")
    assert "marked as the reference" in both


def test_arguments_that_calls_change_are_renewed(desk: Desk) -> None:
    desk.write(
        "odd.py",
        """
        import numpy as np

        def mutates(x):
            x += 1
            return x * 2

        def random(x):
            return x + np.random.random(x.shape)

        def only(x, *, scale):
            return x * scale
        """,
    )
    code, report = desk.report("odd.py:mutates", "--input", "x=f64[9]", WARM)
    assert code == 0
    assert desk.own("mutates")["renewed"] is True
    assert because("arguments_changed") in report.candidates[0].limitations

    asked = ("--input", "x=f64[9]", WARM, "--no-check", "--out")
    drawn = desk.bench("odd.py:random", *asked, "two", "--json")
    assert drawn.code == 0
    assert "answers_differ" in drawn.out

    named = desk.bench("odd.py:only", "--input", "scale=2.0", *asked, "three", "--json")
    assert named.code == 0


UNSEEDED = """
import random
import numpy as np
X = np.random.rand(20, 20)
N = np.random.default_rng().integers(10**9)

def of_data():
    return X.sum(axis=0)

def of_data_otherwise():
    return np.einsum("ij->j", X)

def made():
    a = np.random.rand(50)
    return np.sort, (a,)

def closed():
    a = np.random.default_rng().normal(size=50)
    return (lambda x: np.sort(a) + x), (np.ones(50),)

def drawn():
    return np.random.rand(3)

def mean():
    return np.random.default_rng().normal(size=100).mean()

def shuffled():
    numbers = list(range(50))
    random.shuffle(numbers)
    return numbers

def whole():
    return N + 1

def right(x):
    return x + 1

def wrong(x):
    return x + 2
"""


@pytest.mark.parametrize(
    "names",
    [
        *((name,) for name in ("of_data", "made", "closed", "drawn", "mean", "shuffled", "whole")),
        ("of_data", "of_data_otherwise"),
        ("of_data_otherwise", "mean"),
    ],
)
def test_random_numbers_without_a_seed_are_not_called_wrong(
    desk: Desk, names: tuple[str, ...]
) -> None:
    desk.write("unseeded.py", UNSEEDED)
    code, report = desk.report(*(f"unseeded.py:{name}" for name in names), WARM)
    assert code == ExitCode.FAILED
    reasons = {one.reason.code for one in report.candidates if one.reason is not None}
    assert reasons == {"not_reproducible"}, "and no time of any is told"
    assert not any(one.call or one.ttfr for one in report.candidates)


def test_a_seeded_one_beside_random_numbers_is_told_whose_they_are(desk: Desk) -> None:
    desk.write("unseeded.py", UNSEEDED + "\ndef seeded():\n    return np.arange(3.0)\n")
    code, report = desk.report("unseeded.py:drawn", "unseeded.py:seeded", WARM)
    assert code == ExitCode.FAILED
    held = {one.candidate: one.reason for one in report.candidates}
    assert held["drawn"] is not None
    assert held["drawn"].code == "not_reproducible"
    assert held["seeded"] == because(
        "reference_not_reproducible", *(held["seeded"] or held["drawn"]).parts, candidate="drawn"
    )


def test_a_wrong_answer_beside_a_seeded_one_is_still_wrong(desk: Desk) -> None:
    desk.write("unseeded.py", UNSEEDED)
    targets = [f"unseeded.py:{name}" for name in ("right", "wrong")]
    code, report = desk.report(*targets, "--input", "x=f64[5]", WARM)
    assert code == ExitCode.FAILED
    held = {one.candidate: one.reason and one.reason.code for one in report.candidates}
    assert held == {"right": None, "wrong": "correctness_gate"}


STALE = """
import functools
import numpy as np

KEPT = {}

def work(x):
    return np.sort(np.abs(np.fft.rfft(x)))

def first(x):
    return KEPT["first"] if KEPT else keep("first", x)

def keep(key, x):
    KEPT[key] = work(x)
    return KEPT[key]

def by_shape(x):
    return KEPT[x.shape] if x.shape in KEPT else keep(x.shape, x)

def by_kind(x):
    return KEPT[x.dtype] if x.dtype in KEPT else keep(x.dtype, x)

def by_length(x):
    return KEPT[len(x)] if len(x) in KEPT else keep(len(x), x)

def by_other(x, n):
    return KEPT[n] if n in KEPT else keep(n, x * n)

def by_default(x, kept=[]):
    kept.append(work(x)) if not kept else None
    return kept[0]

def by_attribute(x):
    if not hasattr(by_attribute, "kept"):
        by_attribute.kept = work(x)
    return by_attribute.kept

class Fitted:
    kept = None

    def __call__(self, x):
        if self.kept is None:
            self.kept = work(x)
        return self.kept

fitted = Fitted()

class Shape:
    def __init__(self, x):
        self.x = x

    def __hash__(self):
        return hash(self.x.shape)

    def __eq__(self, other):
        return self.x.shape == other.x.shape

@functools.lru_cache
def of_shape(one):
    return work(one.x)

def by_equality(x):
    return of_shape(Shape(x))

def closed():
    kept = None

    def inner(x):
        nonlocal kept
        kept = work(x) if kept is None else kept
        return kept

    return inner

by_closure = closed()

def zeros(x):
    return np.zeros_like(x)

def places(x):
    return np.arange(x.size)[::-1]

def unused(x, n):
    return work(x)
"""
OF_ONE = ("--input", "x=f64[5000]", WARM)
OF_TWO = (*OF_ONE, "--input", "n=3")


@pytest.mark.parametrize(
    "name",
    [
        *("first", "by_shape", "by_kind", "by_length", "by_other", "by_default", "by_attribute"),
        *("fitted", "by_equality", "by_closure"),
    ],
)
def test_what_answers_other_data_as_the_first_is_wrong_without_another_beside_it(
    desk: Desk, name: str
) -> None:
    desk.write("stale.py", STALE)
    code, report = desk.report(f"stale.py:{name}", *(OF_TWO if name == "by_other" else OF_ONE))
    assert code == ExitCode.FAILED
    (one,) = report.candidates
    assert one.reason is not None
    assert [one.reason.code, *(part.code for part in one.reason.parts)] == [
        "correctness_gate",
        "ignores_arguments",
    ]


@pytest.mark.parametrize("name", ["zeros", "places", "unused"])
def test_what_need_not_depend_on_its_data_is_fine(desk: Desk, name: str) -> None:
    desk.write("stale.py", STALE)
    code, report = desk.report(f"stale.py:{name}", *(OF_TWO if name == "unused" else OF_ONE))
    assert (code, [one.reason for one in report.candidates]) == (0, [None])


def test_arguments_in_classes_are_renewed_too(desk: Desk) -> None:
    desk.write(
        "boxed.py",
        """
        import dataclasses
        import numpy as np

        @dataclasses.dataclass
        class State:
            a: object

        def ordered(state):
            state.a.sort()
            return state.a.copy()

        def make():
            return ordered, (State(np.random.default_rng(0).random(200_000)),)

        def plain(a):
            a.sort()
            return a.copy()

        def make_plain():
            return plain, (np.random.default_rng(0).random(200_000),)
        """,
    )
    code, report = desk.report("boxed.py:make", "boxed.py:make_plain", WARM)
    assert code == 0
    (verdict,) = report.verdicts
    times = [one.call.median for one in report.candidates if one.call is not None]
    assert 1 / 3 < times[0] / times[1] < 3, "to sort what is sorted takes a tenth"
    assert verdict.comparison.metric == "warm.call_s"


def test_inputs_are_the_same_in_whatever_order_functions_take_them(desk: Desk) -> None:
    desk.write(
        "order.py",
        """
        def f(x, y):
            return x - y

        def g(y, x):
            return x - y

        def h(*, y, x):
            return x - y
        """,
    )
    names = ("order.py:f", "order.py:g", "order.py:h")
    code, report = desk.report(*names, "--input", "x=f64[50]", "--input", "y=f64[50]", WARM)
    assert code == 0, [(one.candidate, one.reason) for one in report.candidates]


def test_a_buffer_that_is_handed_out_again_is_judged_by_what_was_in_it(desk: Desk) -> None:
    desk.write(
        "buffer.py",
        """
        import numpy as np

        buffer = np.empty(2000)
        total = np.zeros(1000)

        def right(x):
            return x * 2

        def reused(x):
            out = buffer[: x.size]
            return np.multiply(x, 2, out=out)

        def keeps(x):
            total[:] += x
            return total
        """,
    )
    shapes = ("--input", "x=f64[1000];[2000]", COLD)
    code, report = desk.report("buffer.py:right", "buffer.py:reused", *shapes)
    assert code == 0, [(one.candidate, one.reason) for one in report.candidates]
    asked = ("--input", "x=f64[1000]", WARM, "--out", "two", "--json")
    done = desk.bench("buffer.py:keeps", *asked)
    assert done.code == 0
    assert "answers_differ" in done.out


def test_lazy_results_are_refused_also_where_nothing_is_checked(desk: Desk) -> None:
    desk.write("lazy.py", "def fit(x):\n    return map(abs, x)\n")
    said = desk.refused("lazy.py:fit", "--input", "x=f64[9]", "--no-check", WARM)
    assert "computed nothing yet" in said


def test_marks_are_read_in_the_environment_that_is_asked_for(desk: Desk) -> None:
    desk.write(
        "marked.py",
        """
        import os
        import coldwarm

        factor = float(os.environ["FACTOR"])

        @coldwarm.workload(inputs={"x": "f64[20]"})
        def fit(x):
            return x * factor
        """,
    )
    code, _ = desk.report("marked.py", "--env", "FACTOR=2", "--python", sys.executable, WARM)
    assert code == 0
    said = desk.refused("marked.py", "--out", "two")
    assert said.startswith("marked.py failed before it was measured: KeyError: 'FACTOR'")


def test_inputs_of_a_framework_that_is_not_there_are_refused(fit: Desk) -> None:
    said = fit.refused("fit.py:fit", *X, "--inputs-as", "torch")
    assert "which the function's module does not import" in said
    said = fit.refused("fit.py:fit", "--input", "x=f64[5,5];[6,6];[5,5]")
    assert "given twice" in said


def test_variables_reach_the_candidate_that_they_are_for(desk: Desk) -> None:
    desk.write("env.py", "import os\n\ndef value(x):\n    return x * float(os.environ['FACTOR'])\n")
    pair = ("one=env.py:value", "two=env.py:value", "--input", "x=f64[9]", WARM)
    given = ("--env", "one:FACTOR=1", "--env", "two:FACTOR=2")
    code, report = desk.report(*pair, *given)
    assert code == 3
    assert [one.status for one in report.candidates] == ["ok", "failed"]
    assert desk.own("two")["withheld_variables"] == ["FACTOR"], "a value may be a secret"


def test_two_virtual_environments(fit: Desk) -> None:
    for name in ("old", "new"):
        made = [sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", name]
        subprocess.run(made, cwd=fit.path, check=True)
        # A virtual environment of this one's may have the packages.
        site = next(fit.path.glob(f"{name}/lib/python*/site-packages"))
        (site / "shared.pth").write_text("\n".join(p for p in sys.path if "site-packages" in p))
    done = fit.bench("fit.py:fit", *X, WARM, "--python", "old", "--python", "new")
    assert done.code == 0, done.err
    for name in ("old", "new"):
        assert fit.own(f"fit@{name}")["python"] == str(fit.path / name / "bin" / "python")


def test_a_verdict_beyond_a_limit_fails_the_bench(fit: Desk) -> None:
    runs = ("--rounds", "5", "--max-rounds", "5", WARM)
    code, report = fit.report("fit.py:fit", "fit.py:slow", *X, *runs, "--fail-on", "slower:2%")
    assert report.verdicts[0].comparison.verdict == "slower"
    assert (code, report.n_failing) == (1, 1)
    assert report.verdicts[0].fails_beyond == 0.02
    code, _ = fit.report(
        *("fit.py:fit", "fit.py:slow", *X, *runs), "--fail-on", "faster:2%", "--out", "two"
    )
    assert code == 0


def test_calls_that_become_slower_by_themselves_are_told_of_the_candidate(desk: Desk) -> None:
    desk.write(
        "parts.py",
        """
        import time
        seen = []

        def parts(x):
            seen.append(x)
            until = time.perf_counter() + 0.002 * (1 + 0.005 * len(seen))
            while time.perf_counter() < until:
                pass
            return x + 1.0
        """,
    )
    runs = ("--warm-only", "--no-check", "--rounds", "5", "--max-rounds", "5")
    assert desk.bench("parts.py:parts", *X, *runs).code == 0
    warm = desk.case("parts")["warm"]["steady"]
    assert warm["steady"] is False
    assert warm["reason"]["code"] == "drifts_across"
    assert warm["drift_low"] > 0.005


def test_a_time_budget_is_kept(fit: Desk) -> None:
    code, report = fit.report("fit.py:fit", "fit.py:other", *X, "--time-budget", "10s")
    assert code == 0
    assert report.wall_s < 14.0


def test_functions_of_one_file_start_alike(desk: Desk) -> None:
    desk.write("both.py", "def f(x):\n    return x + 1\n\ndef g(x):\n    return x + 1\n")
    desk.write("other.py", "def f(x):\n    return x + 1\n")
    desk.write(
        "lazy.py",
        "def _add(x):\n    return x + 1\n\n"
        "def __getattr__(name):\n    if name in {'f', 'g'}:\n        return _add\n"
        "    raise AttributeError(name)\n",
    )
    lazy = "i=lazy.py:f", "j=lazy.py:g"
    targets = "f=both.py:f", "h=other.py:f", "g=both.py:g", *lazy
    done = desk.bench(*targets, "--input", "x=f64[9]", "--cold-only", "--rounds", "1")
    assert done.code == 0, done.err
    own = {
        path.stem: json.loads(path.read_text())["protocol"]["own"]
        for path in (desk.out / "cases").glob("*.json")
    }
    alike = {"f": "f", "g": "f", "h": None, "i": None, "j": None}
    assert {name: one["starts_as"] for name, one in own.items()} == alike


def test_the_seconds_of_the_look_count_in_all(desk: Desk) -> None:
    desk.write("late.py", "import time\ntime.sleep(3)\n\ndef f(x):\n    return x + 1\n")
    done = desk.bench("late.py:f", "--input", "x=f64[9]", "--cold-only")
    assert done.code == 0, done.err
    suite = json.loads((desk.out / "suite.json").read_text())
    assert suite["wall_s"] - suite["measured_s"] >= 3.0
