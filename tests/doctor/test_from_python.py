"""Compiled code that Python uses piece by piece, and caches that nobody finds again."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S

from coldwarm.doctor.judge import findings, findings_across
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

FILE = "/a.py"


def trace(
    text: str,
    *stack: int,
    spent_s: float = 2.0,
    line: int = 2,
    call: int = 0,
    anomalies: bool = False,
    **more: Any,
) -> ProcessTrace:
    """Return a run of ten seconds in which lines that called each other were seen.

    A function at ``line`` was compiled at the line ``call``, or at the first of those.
    """
    function = {"name": "work", "path": FILE, "line": line, "whose": "user"}
    sites = [[FILE, one, "?"] for one in stack]
    at = [[FILE, call or stack[0], "?"]]
    rows = [
        journals.process(),
        journals.call(1, framework="numba", stack=at, function=function, keeps=True, **more),
        journals.stage(1, 0.0, {"compile": 1.0}),
        {
            "kind": "spot",
            "at_s": BEGIN_S,
            "number": 1,
            "stack": sites,
            "below": "",
            "anomalies": anomalies,
        },
        {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S + 2, "runs": [[1, spent_s]]},
        journals.end(10.0),
    ]
    return ProcessTrace.of(rows, [], SourceFiles({FILE: textwrap.dedent(text).lstrip()}))


def named(found: list[Finding]) -> list[tuple[str, int]]:
    return [(one.pattern, one.line) for one in found]


CFUNC = """
    {decorator}
    def work(x):
        return x * 2

    value = quad(work, 0, 1)
"""


@pytest.mark.parametrize(
    ("decorator", "spent_s", "is_named"),
    [
        ("@cfunc('float64(float64)')", 2.0, True),
        ("@numba.cfunc(float64(float64))", 2.0, True),
        ("@cfunc('float64(float64)')", 0.1, False),
        ("@lru_cache()", 2.0, False),
    ],
)
def test_a_cfunc_whose_python_code_runs_is_named_where_it_is_called(
    decorator: str, spent_s: float, *, is_named: bool
) -> None:
    text = CFUNC.format(decorator=decorator)
    found = findings(trace(text, 3, 5, spent_s=spent_s, call=1))
    assert named(found) == [("numba-call-per-element", 5)] * is_named


GENERATOR = """
    @njit
    def work(n):
        {gives}

    for x in work(n):
        total += {taken}
"""


@pytest.mark.parametrize(
    ("gives", "taken", "spent_s", "is_named"),
    [
        ("yield n", "x", 2.0, True),
        ("yield n", "int(x)", 2.0, True),
        ("yield n", "np.dot(x, x)", 2.0, False),  # a turn may take long by itself
        ("yield n", "x", 0.1, False),
        ("return np.ones(n)", "x", 2.0, False),
    ],
)
def test_a_loop_over_a_compiled_generator_is_named(
    gives: str, taken: str, spent_s: float, *, is_named: bool
) -> None:
    text = GENERATOR.format(gives=gives, taken=taken)
    found = findings(trace(text, 6, spent_s=spent_s, line=1, call=5))
    assert named(found) == [("numba-call-per-element", 5)] * is_named


FROZEN = """
    import a

    @njit
    def work(n):
        return n * KICK

    def one(kick):
        a.KICK = {value}
        return work(3)

    {called}
"""


@pytest.mark.parametrize(
    ("value", "called", "is_named"),
    [
        ("kick", "for k in kicks: one(k)", True),
        ("kick", "one(1.0)", False),  # it is set once
        ("2.0", "for k in kicks: one(k)", False),  # it is the same each time
    ],
)
def test_a_variable_that_a_function_sets_for_compiled_code_is_named(
    value: str, called: str, *, is_named: bool
) -> None:
    text = FROZEN.format(value=value, called=called)
    found = findings(trace(text, 9, line=4, call=9, spent_s=0.0))
    assert named(found) == [("numba-frozen-global", 8)] * is_named


@pytest.mark.parametrize(
    ("text", "n_processes", "is_named"),
    [
        ('os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()', 1, True),
        ('d = tempfile.mkdtemp()\nos.environ.setdefault("NUMBA_CACHE_DIR", d + "/x")', 1, True),
        ('with TemporaryDirectory() as d:\n    os.environ["NUMBA_CACHE_DIR"] = d', 3, True),
        ('os.environ["NUMBA_CACHE_DIR"] = os.path.expanduser("~/.numba")', 3, False),
        ('os.environ["JAX_COMPILATION_CACHE_DIR"] = tempfile.mkdtemp()', 3, False),
        ('os.environ["SCRATCH"] = tempfile.mkdtemp()', 3, False),
    ],
)
def test_a_cache_in_a_folder_that_is_made_anew_is_named(
    text: str, n_processes: int, *, is_named: bool
) -> None:
    traces = [trace(text, 1, spent_s=0.0) for _ in range(n_processes)]
    found = [one for one in findings_across(traces) if one.pattern.startswith("cache-in")]
    assert [one.cost_s for one in found] == [pytest.approx(n_processes)] * is_named


ANOMALIES = """
    with {block}:
        loss = model(x)
        loss.backward()
"""


@pytest.mark.parametrize(
    ("block", "spent_s", "is_on", "is_named"),
    [
        ("torch.autograd.set_detect_anomaly(True)", 2.0, True, True),
        ("torch.autograd.set_detect_anomaly(mode)", 2.0, True, True),
        ("torch.autograd.set_detect_anomaly(mode)", 2.0, False, False),
        ("torch.autograd.detect_anomaly()", 2.0, True, True),
        ("torch.autograd.detect_anomaly(check_nan=True)", 0.1, True, False),
        ("torch.autograd.set_detect_anomaly(False)", 2.0, False, False),
        ("torch.no_grad()", 2.0, False, False),
    ],
)
def test_a_block_that_looks_for_faults_is_named_where_time_is_spent_in_it(
    block: str, spent_s: float, *, is_on: bool, is_named: bool
) -> None:
    text = ANOMALIES.format(block=block)
    found = findings(trace(text, 3, spent_s=spent_s, anomalies=is_on))
    assert named(found) == [("debug-setting-on", 1)] * is_named


SESSION = """
    @contextmanager
    def session():
        with torch.autograd.set_detect_anomaly(True):
            yield

    with torch.autograd.detect_anomaly():
        check(x)
    with session():
        train(x)
"""


def test_of_several_the_one_is_named_around_which_time_is_spent() -> None:
    found = findings(trace(SESSION, 7, anomalies=True))
    assert named(found) == [("debug-setting-on", 6)]
    alone = SESSION.replace("with torch.autograd.detect_anomaly():", "if True:")
    assert named(findings(trace(alone, 9, anomalies=True))) == [("debug-setting-on", 3)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = torch.tensor(curves)", "doctor_list_given"),
        ("def f():\n    curves = []\n    x = torch.tensor(curves)", "doctor_list_of_arrays"),
        ("x = torch.as_tensor(x.tolist())", "doctor_list_of_arrays"),
        ("x = torch.tensor(np.stack(curves))", ""),
        (
            "def f():\n    c = []\n    c = np.stack(c)\n    x = torch.tensor(c)",
            "doctor_list_given",
        ),
        ("x = torch.from_numpy(curves)", ""),
    ],
)
def test_a_tensor_that_is_made_of_a_list_is_named_also_outside_of_loops(
    text: str, code: str
) -> None:
    found = findings(trace(text, text.count("\n") + 1))
    assert [one.says.code for one in found] == [code] * bool(code)
