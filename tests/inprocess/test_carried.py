"""``coldwarm.bench`` of the code that people have: methods, closures, notebooks, any arguments."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import coldwarm
from coldwarm.contracts.reasons import Reason
from coldwarm.errors import UsageError
from coldwarm.functions import transfer, values
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import warm_calls
from coldwarm.report.sentences import with_advice

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.inprocess.bench_result import BenchResult

public: Any = coldwarm  # a fresh process that imports this file has no more than that
once = public.Benchmark(processes=1)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_calls, "_BLOCK_S", 0.01)
    monkeypatch.setattr(warm_calls, "_BLOCKS", 3)


def is_cold(result: BenchResult) -> bool:
    cold = result.cold["cold_process_cold_cache"]
    assert cold is not None, result.reasons
    return cold.seconds["ttfr"].median > 0


def codes(result: BenchResult) -> set[str]:
    return {one.code if isinstance(one, Reason) else one.reason.code for one in result.cautions}


NOTEBOOK = """
import contextlib, io, json, sys
from dataclasses import dataclass
import numpy as np
import scipy.optimize
import coldwarm


@dataclass
class Settings:
    degree: int
    label: str

class Model:
    def __init__(self, settings):
        self.settings, self.n_fits = settings, 0

    def loss(self, p, x, y):
        return float(np.sum((np.polyval(p, x) - y) ** 2))

    def fit(self, data):
        self.n_fits += 1
        print("fitting", self.settings.label)
        start = np.ones(self.settings.degree + 1)
        return scipy.optimize.minimize(self.loss, start, args=(data["x"], data["y"]))

x = np.linspace(-1, 1, 50)
data = {"x": x, "y": x**3 - x, "name": "run 7"}
model = Model(Settings(3, "peak"))
result = coldwarm.Benchmark(processes=1)(model.fit, data)
cold = result.cold["cold_process_cold_cache"]
print(json.dumps({
    "reasons": result.reasons,
    "seconds": {name: one.median for name, one in cold.seconds.items()},
    "warm": result.warm.call_s.median,
    "outputs": result.case.protocol.own.outputs,
    "checked": result.case.protocol.own.checked,
    "name": result.name,
    "n_fits": model.n_fits,
    "shown": repr(result),
}))
"""
"""What a physicist has in the cells of a notebook."""


@pytest.mark.slow
def test_a_method_of_a_configured_object_in_a_notebook_is_measured_cold(tmp_path: Path) -> None:
    program = "import sys\nscope = {'__name__': '__main__'}\n"
    program += "exec(compile(sys.stdin.read(), '<cell 1>', 'exec'), scope)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=NOTEBOOK,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()  # nothing that the fit prints
    assert "fitting" not in done.stderr
    told = json.loads(line)
    assert told["reasons"] == {}
    assert told["name"] == "Model.fit"
    assert told["outputs"].count("float64[4]") == 2  # x and jac
    assert "text[]" in told["outputs"]  # the message
    assert told["checked"].startswith("against the answer in the process that asked")
    assert told["n_fits"] == 0  # calls had a copy
    seconds = told["seconds"]
    # NumPy and SciPy are imported in that phase, not while the pickle is loaded.
    assert seconds["import"] > 5 * seconds["setup"]
    assert seconds["ttfr"] >= seconds["import"] + seconds["first_call"] * 0.99
    assert "by value" in told["shown"]


class Model:
    """Something with a state and a method."""

    def __init__(self) -> None:
        """Hold a lock."""
        self.scale, self.lock = 2.0, threading.Lock()

    def predict(self, x: Any) -> Any:
        """Return what it was given, scaled."""
        return self.scale * x


def _made(n: int) -> Any:
    return lambda x: x * n


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: x + 1, 3.0),
        (_made(3), np.ones(3)),
        (functools.partial(_made(2)), 2.0),
        (sorted, [2, 1]),
    ],
    ids=["lambda", "closure", "partial", "built in"],
)
def test_functions_that_no_module_holds_are_measured_cold(function: Any, argument: Any) -> None:
    result = once(function, argument)
    assert is_cold(result)
    assert "carried" in codes(result)
    assert result.case is not None
    assert result.case.protocol.own is not None
    assert result.case.protocol.own.checked.startswith("against the answer")


@dataclass
class Data:
    """An argument of a class of its own."""

    x: Any
    label: str
    more: set[str] = field(default_factory=lambda: {"a", "b"})


def described(data: Data) -> dict[str, Any]:
    """Return all kinds of things."""
    print("described", data.label)  # noqa: T201 - what is kept back
    return {
        "x": data.x * 2,
        "label": data.label + "!",
        "more": data.more,
        "later": threading.Lock(),
    }


@pytest.mark.slow
def test_objects_go_in_and_anything_comes_out(capfd: pytest.CaptureFixture[str]) -> None:
    result = once(described, Data(np.ones(3), "run"))
    assert is_cold(result)
    assert result.case is not None
    assert result.case.protocol.own is not None
    assert result.case.protocol.own.outputs == ["text[]", "text[]", "float64[3]"]
    (told,) = [note for note in result.notes if "not compared" in note]
    assert "output['later'] (lock)" in told
    assert "described" not in "".join(capfd.readouterr())


def of_this_process() -> str:
    """Return another text in each process."""
    return f"process {os.getpid()}"


@pytest.mark.slow
def test_texts_are_compared_by_equality() -> None:
    result = once(of_this_process)
    told = result.missing["cold_process_cold_cache"]
    assert told.code == "fresh_answer_differs"
    assert [one.code for one in told.parts] == ["other_text"]


def refused(folder: Path, function: Any, *arguments: Any, **names: Any) -> str:
    from coldwarm.inprocess import sending

    given = sending.Given(function, Call(arguments, {}), None, names, {})
    with pytest.raises(sending.NotCarriedError) as error:
        sending.target_of(given, folder / str(len(list(folder.iterdir()))))
    return with_advice(error.value.reason)


LOCK = threading.Lock()


def test_what_cannot_be_carried_is_named(tmp_path: Path) -> None:
    model = Model()
    told = refused(tmp_path, model.predict, 1.0, model=model)
    assert told.startswith("model.lock (a _thread.lock) cannot be carried into a fresh process; ")
    assert "Model.lock" in refused(tmp_path, model.predict, 1.0)
    held = {"of": [1, (x for x in "a")]}
    assert "held['of'][1] (a generator)" in refused(tmp_path, lambda: held)
    assert "LOCK (a _thread.lock)" in refused(tmp_path, lambda: LOCK)
    assert "argument 1.x" in refused(tmp_path, sorted, Data(threading.Lock(), "a"))
    partial = functools.partial(sorted, key=threading.Lock())
    assert "key (a _thread.lock)" in refused(tmp_path, partial)


def test_what_cannot_be_carried_is_measured_in_this_process() -> None:
    model = Model()
    result = public.bench(model.predict, 2.0)
    assert result.warm is not None
    assert result.case is None
    assert result.missing["cold_process_cold_cache"].code == "not_carried"


def test_a_pickle_names_the_modules_that_it_needs(tmp_path: Path) -> None:
    import scipy.optimize

    from coldwarm.inprocess import sending

    def fit(start: Any) -> Any:
        return scipy.optimize.minimize(lambda p: (p**2).sum(), start)

    given = sending.Given(fit, Call((np.ones(2),), {}), None, {}, {})
    target = sending.target_of(given, tmp_path / "given")
    assert target.carried
    names = transfer.carried_modules(str(target.arguments))
    assert "scipy.optimize" in names
    assert any(name.partition(".")[0] == "numpy" for name in names)
    assert not {"__main__", "cloudpickle", "cloudpickle.cloudpickle"} & set(names)
    function, call, sync = transfer.load(str(target.arguments))
    assert sync is None
    assert function(*call.positional).x == pytest.approx([0.0, 0.0], abs=1e-6)


class Later:
    """What computes only when somebody asks."""

    def compute(self) -> float:
        """Do the work."""
        return 1.0


class Asked:
    """What computes when somebody asks it for its number."""

    def __float__(self) -> float:
        """Do the work."""
        time.sleep(0.05)
        return 1.0


def test_results_that_may_be_unfinished_are_refused_or_said_inside_others_too() -> None:
    with pytest.raises(UsageError, match="Asked"):
        public.bench(lambda: Data(Asked(), "a"))
    found = public.Benchmark(cold=False)(lambda: Data(Later(), "a"))
    assert any("returns a Later that " in one for one in found.notes)


class Result:
    """A result of a class of its own."""

    def __init__(self, x: Any, label: str) -> None:
        """Keep both, and itself."""
        self.x, self.label, self.me = x, label, self


def test_an_answer_holds_numbers_and_texts_of_any_object() -> None:
    answer = values.OutputValues(
        [Result(np.arange(3.0), "a"), np.datetime64(3, "D"), 10**30, b"xy"]
    )
    assert answer.dtypes == ["text", "float64", "datetime64[D]", "text", "bytes"]
    assert answer.others == []
    assert (
        values.OutputValues(answer.arrays).digest() == values.OutputValues(answer.arrays).digest()
    )
    kept = values.OutputValues(answer.arrays)
    assert [one.tolist() for one in kept.arrays] == [one.tolist() for one in answer.arrays]
    other = values.OutputValues([Result(np.arange(3.0), "b"), np.datetime64(3, "D"), 10**30, b"xy"])
    assert other.digest() != answer.digest()
    columns = np.array([(1, "a")], dtype=[("n", "i8"), ("name", "U1")])
    assert values.OutputValues(columns).dtypes == ["int64", "text"]
    assert values.OutputValues({3: np.array([1, "a", None], object)}).dtypes == ["int64", "text"]
    assert values.OutputValues(object()).others == ["output (object)"]


def failing(x: float) -> float:
    """Fail where it is measured."""
    print("before it failed")  # noqa: T201 - what is shown
    if "COLDWARM_RUN" in os.environ:
        raise ValueError("not there")
    return x


@pytest.mark.slow
def test_what_is_printed_is_shown_where_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    result = public.bench(failing, 1.0)
    assert "before it failed" not in "".join(capsys.readouterr())
    assert "before it failed" in result.output
    assert "before it failed" in repr(result)

    def raising() -> None:
        print("here it failed")  # noqa: T201 - likewise
        raise ValueError("nowhere")

    with pytest.raises(ValueError, match="nowhere"):
        public.bench(raising)
    assert "here it failed" in capsys.readouterr().err


class Keeping:
    """An object that remembers its answers."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.known: dict[float, float] = {}

    def work(self, x: float) -> float:
        """Take long for what was not asked before."""
        if x not in self.known:
            time.sleep(0.3)
            self.known[x] = x
        return self.known[x]


@pytest.mark.slow
def test_what_calls_keep_does_not_come_with_the_object() -> None:
    keeping = Keeping()
    result = once(keeping.work, 1.0)
    assert is_cold(result)
    assert keeping.known == {}
    cold = result.cold["cold_process_cold_cache"]
    assert cold is not None
    assert cold.seconds["first_call"].median >= 0.3


LIBRARY = """
class Opened:
    def __setstate__(self, state):
        import slow_to_import
        vars(self).update(state)

    def work(self, x):
        return self.scale * x
"""


@pytest.mark.slow
def test_an_import_that_comes_with_a_pickle_is_charged_to_the_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opened_library.py").write_text(LIBRARY)
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.4)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    opened = __import__("opened_library").Opened()
    opened.scale = 2.0
    result = once(opened.work, 3.0)
    assert is_cold(result)
    cold = result.cold["cold_process_cold_cache"]
    assert cold is not None
    assert cold.seconds["import"].median >= 0.4
    assert cold.seconds["setup"].median < cold.seconds["import"].median


def test_figures_that_calls_draw_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook shows what is displayed, and at the end of a cell every open figure."""
    hooks: list[Any] = []
    open_figures = [1]
    publisher = types.SimpleNamespace(register_hook=hooks.append, unregister_hook=hooks.remove)
    shell = types.SimpleNamespace(display_pub=publisher)
    notebook = types.SimpleNamespace(get_ipython=lambda: shell)
    pyplot = types.SimpleNamespace(
        get_fignums=lambda: list(open_figures), close=open_figures.remove
    )
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    with warm_calls.quiet():
        (hook,) = hooks
        assert hook({"data": "a figure"}) is None
        open_figures.append(2)
    assert hooks == []
    assert open_figures == [1]
