"""What is done in vain: below vmap, for gradients, by settings left on, by what is started anew."""

from __future__ import annotations

import functools
import sys
import textwrap
from typing import Any

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import END_S, FILE, patterns, seen

from coldwarm.doctor import watch
from coldwarm.doctor.judge import findings, findings_across
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

CHOICE = """
def costly(x):
    return jnp.linalg.eigh(x)[1]

def step(x, n):
    return jax.lax.cond(n % 9 == 0, costly,
                        lambda x: x + {term},
                        made(x))

work(xs, ns)
"""
COSTLY, WRITTEN = (FILE, 3, "costly"), (FILE, 7, "step.<locals>.<lambda>")
OPERAND, ELSEWHERE = (FILE, 8, "made"), (FILE, 11, "")


@pytest.mark.parametrize(
    ("asking", "heavy", "named"),
    [
        ([(FILE, 6, "step")], [("eigh", [COSTLY])], True),
        ([(FILE, 6, "step")], [("sort", [WRITTEN])], True),
        ([(FILE, 6, "step")], [("eigh", [OPERAND])], False),  # what is asked with
        ([(FILE, 6, "step")], [("scan", [ELSEWHERE])], False),  # beside what is asked
        ([(FILE, 6, "step")], [], False),
        ([], [("eigh", [COSTLY])], False),
    ],
)
def test_branches_that_are_all_computed_are_named(
    asking: list[Any], heavy: list[Any], *, named: bool
) -> None:
    program = {"equations": 9, "asking": asking, "heavy": heavy}
    more = [journals.call(1), journals.stage(1, 0.0, {"compile": 0.1}, program=program)]
    found = seen(CHOICE.format(term=1), more=more)
    assert patterns(found) == [("cond-under-vmap", 6, None)] * named


@pytest.mark.parametrize(("n_bytes", "named"), [(2**26, True), (2**20, False)])
def test_steps_that_are_kept_for_nothing_are_named(n_bytes: int, *, named: bool) -> None:
    program = {"equations": 9, "kept_steps": [((FILE, 3, "step"), 400, n_bytes)]}
    more = [journals.call(1), journals.stage(1, 0.0, {"compile": 0.1}, program=program)]
    found = seen("\n" * 5, more=more)
    assert [(one.pattern, one.n) for one in found] == [("scan-keeps-steps", 400)] * named


def looked_into(function: Any, *arguments: Any) -> dict[str, Any]:
    """Return what is told of a program of JAX's, for a function of this file."""
    jax = pytest.importorskip("jax")
    from coldwarm.doctor.record import jax_work

    return jax_work.in_vain(jax.make_jaxpr(function)(*arguments).jaxpr)


def test_jax_tells_where_all_branches_are_computed() -> None:
    jax = pytest.importorskip("jax")
    jnp, lax = jax.numpy, jax.lax

    def costly(x: Any) -> Any:
        return jnp.linalg.eigh(x)[1]

    def one(x: Any, n: Any) -> Any:
        return lax.cond(n > 1, costly, lambda x: x, x)

    xs, ns = jnp.ones((30, 9, 9)), jnp.arange(30)
    apart = looked_into(jax.jit(jax.vmap(one)), xs, ns)
    assert [line[2].rpartition(".")[2] for line in apart["asking"]] == ["one"]
    assert ["costly"] in [
        [line[2].rpartition(".")[2] for line in chain[:1]]
        for name, chain in apart["heavy"]
        if name == "eigh"
    ]
    # The same condition for all, and a choice by element without lax.cond.
    together = looked_into(jax.jit(jax.vmap(one, in_axes=(0, None))), xs, 2)
    chosen = looked_into(jax.jit(lambda x: jnp.where(x > 0, jnp.linalg.eigh(x)[1], x)), xs[0])
    assert together["asking"] == chosen["asking"] == []
    small = looked_into(jax.jit(jax.vmap(one)), xs[:2, :3, :3], ns[:2])
    assert small["heavy"] == []


@pytest.mark.parametrize(
    ("used", "named"),
    [
        (lambda last, ys: last + ys[-1], True),
        (lambda last, ys: ys[7], True),
        (lambda last, ys: ys, False),
        (lambda last, ys: ys[::50], False),
        (lambda last, ys: ys[:, 7], False),  # one number of each step
        (lambda last, ys: ys[3] - ys[7], False),
        (lambda last, ys: last + ys.sum(), False),
        (lambda last, ys: last, False),  # what nobody uses is not kept
    ],
)
def test_jax_tells_which_steps_are_kept_for_nothing(used: Any, *, named: bool) -> None:
    jax = pytest.importorskip("jax")

    def run(x: Any) -> Any:
        last, ys = jax.lax.scan(lambda c, _: (c * 0.5, c), x, None, length=100)
        return used(last, ys)

    told = looked_into(jax.jit(run), jax.numpy.ones(1000))["kept_steps"]
    assert [numbers for _, *numbers in told] == [[100, 400_000]] * named


@pytest.mark.parametrize(
    ("turn", "named"),
    [
        (lambda jnp, i, s, x: s.at[i].set(x[i] * 2.0), True),
        (lambda jnp, i, s, x: s.at[i].set(jnp.max(x[i] * jnp.arange(9.0))), True),
        (lambda jnp, i, s, x: s.at[i].set(s[i - 1] * 0.9 + x[i]), False),
        (lambda jnp, i, s, x: s.at[i].set(s.sum()), False),
        (lambda jnp, i, s, x: s + x[i], False),
        (lambda jnp, i, s, x: s.at[i].set((x * x[i]).sum()), False),  # a turn is long by itself
    ],
)
def test_jax_tells_which_loops_turn_one_by_one_for_nothing(turn: Any, *, named: bool) -> None:
    jax = pytest.importorskip("jax")
    jnp, lax = jax.numpy, jax.lax

    def run(x: Any) -> Any:
        return lax.fori_loop(0, 9000, lambda i, s: turn(jnp, i, s, x), jnp.zeros(9000))

    def outer(x: Any) -> Any:
        return lax.scan(lambda c, _: (run(c), None), x, None, length=30)[0]

    for function, n_around in ((run, 1), (outer, 30)):
        told = looked_into(jax.jit(function), jnp.ones(9000))["apart"]
        assert [numbers for _, *numbers in told] == [[9000, n_around]] * named


@pytest.mark.parametrize(
    ("each", "numbers"),
    [
        (lambda jax, x: x * 2.0, [9000, 1]),
        (lambda jax, x: jax.lax.fori_loop(0, 25, lambda i, y: jax.numpy.cos(y), x), [9000, 25]),
        (lambda jax, x: (x * jax.numpy.ones(9000)).sum(), None),  # a turn is long by itself
    ],
)
def test_jax_tells_what_map_computes_one_by_one(each: Any, numbers: list[int] | None) -> None:
    jax = pytest.importorskip("jax")

    def run(x: Any) -> Any:
        return jax.lax.map(lambda one: each(jax, one), x)

    given = functools.partial(jax.lax.map, lambda one: each(jax, one))
    for function in (run, given):
        told = looked_into(jax.jit(function), jax.numpy.ones(9000))["apart"]
        assert [found for _, *found in told] == ([] if numbers is None else [numbers])


@pytest.mark.parametrize(("n", "length", "named"), [(60_000, 50, 1), (60_000, 4, 1), (90, 50, 0)])
def test_jax_tells_which_turns_sort(n: int, length: int, named: int) -> None:
    jax = pytest.importorskip("jax")

    def run(key: Any) -> Any:
        def step(s: Any, k: Any) -> Any:
            return s + jax.random.choice(k, n, (10,), replace=False).sum(), None

        return jax.lax.scan(step, 0, jax.random.split(key, length))[0]

    told = looked_into(jax.jit(run), jax.random.key(0))["sorted_turns"]
    assert [numbers for _, *numbers in told] == [[length, n]] * named


@pytest.mark.parametrize(
    ("text", "told", "pattern"),
    [
        ("rows = jax.random.choice(key, n, (9,), replace=False)", (50, 10**6), "draw-by-sorting"),
        ("rows = jax.random.choice(key, n, (9,), replace=False)", (50, 10**5), ""),
        ("rows = jax.random.choice(key, n, (9,), replace=False)", (1, 10**8), ""),
        ("order = jax.random.permutation(key, n)", (50, 10**6), ""),  # all of it is used
        ("rows = jnp.sort(x)", (50, 10**6), ""),
        ("s = lax.fori_loop(0, n, turn, s)", (10_000, 30), "loop-turns-apart"),
        ("s = lax.fori_loop(0, n, turn, s)", (10_000, 1), ""),
    ],
)
def test_work_of_compiled_loops_is_named(text: str, told: tuple[int, int], pattern: str) -> None:
    kind = "apart" if "fori" in text else "sorted_turns"
    program = {"equations": 9, kind: [((FILE, 1, "step"), *told)]}
    more = [journals.call(1), journals.stage(1, 0.0, {"compile": 0.1}, program=program)]
    found = seen(text + "\n\n\n", more=more)
    assert [(one.pattern, one.line) for one in found] == [(pattern, 1)] * bool(pattern)


FIT = """
from scipy import optimize
from scipy.optimize import minimize

def cost(x):
    return float(work(x))

found = {given}
"""


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("minimize(cost, x0)", "doctor_gradient"),
        ("minimize(cost, x0, method='BFGS')", "doctor_gradient"),
        ("minimize(cost, x0, jac='2-point')", "doctor_gradient"),
        ("minimize(cost, x0, jac=True)", ""),
        ("minimize(cost, x0, (), 'BFGS', gradient)", ""),
        ("minimize(cost, x0, method='Nelder-Mead')", ""),
        ("minimize(cost, x0, (), 'Powell')", ""),
        ("minimize(cost, x0, method=chosen)", ""),
        ("minimize(cost, x0, **options)", ""),
        ("optimize.least_squares(cost, x0)", "doctor_jacobian"),
        ("optimize.root(cost, x0, method='krylov')", ""),
        ("tree.root(cost)", ""),
        ("least_squares(cost, x0)", ""),  # of another package
    ],
)
def test_gradients_from_differences_are_named(given: str, code: str) -> None:
    text = FIT.format(given=given)
    stack = [[FILE, 6, "cost"], [FILE, 8, "<module>"]]
    spot = {"kind": "spot", "at_s": journals.BEGIN_S, "number": 1, "stack": stack, "below": ""}
    began = journals.BEGIN_S + 1.0
    row = {"kind": "looks", "at_s": began, "begin_s": began, "runs": [[1, 3.0]]}
    many = {"arguments": {"x": "f32[60]"}, "static": {}}
    after = [journals.stage(1, 0.0, {"compile": 0.1}), spot, row]
    found = seen(text, more=[journals.call(1, stack=stack, signature=many), *after])
    assert [(one.says.code, one.line) for one in found] == [(code, 8)] * bool(code)
    assert seen(text, more=[journals.call(1, stack=stack), *after]) == []  # three parameters


SETTING = "{line}\nwork(1)\n"


@pytest.mark.parametrize(
    ("line", "row", "named"),
    [
        ("jax.config.update('jax_debug_nans', True)", {"on": ["jax_debug_nans"]}, True),
        ("jax.config.update('jax_debug_nans', True)", {"on": []}, False),  # off again
        ("import jax", {"on": ["jax_debug_nans"]}, False),  # set from outside
        ("torch.autograd.set_detect_anomaly(True)", {"on": ["set_detect_anomaly"]}, True),
        ("torch.set_num_threads(16)", {"threads": 16, "processors": 2}, True),
        ("torch.autograd.set_detect_anomaly(False)", {"on": ["set_detect_anomaly"]}, False),
        ("numba.set_num_threads(1)", {"threads": 16, "processors": 2}, False),
        ("torch.set_num_threads(2)", {"threads": 2, "processors": 2}, False),
        ("import torch", {"threads": 16, "processors": 2}, False),
    ],
)
def test_settings_that_were_left_on_are_named(
    line: str, row: dict[str, Any], *, named: bool
) -> None:
    more = [{"kind": "debugging", "at_s": journals.BEGIN_S, **row}]
    found = seen(SETTING.format(line=line), looks=[(2, "", 1.0)], more=more)
    assert [one.line for one in found] == [1] * named


def test_settings_are_told_at_the_end() -> None:
    from tests import started

    text = """
        import jax
        import torch
        from coldwarm.doctor.record.settings_at_end import debugging

        jax.config.update("jax_debug_nans", True)
        torch.autograd.set_detect_anomaly(True)
        torch.set_num_threads(64)
        told = debugging()
        print(told["on"])
        print(told["threads"], told["processors"] > 0, told["torch_gpu"])
    """
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    done = started.python([sys.executable, "-c", textwrap.dedent(text)], timeout_s=240)
    said = done.stdout.decode().split("\n")
    assert said[:2] == ["['jax_debug_nans', 'set_detect_anomaly']", "64 True False"]


@pytest.mark.parametrize("used", [True, False])
def test_what_pytorch_does_on_a_gpu_is_told_as_not_seen(*, used: bool) -> None:
    row = {"kind": "debugging", "at_s": journals.BEGIN_S, "torch_gpu": used}
    trace = ProcessTrace.of([journals.process(), row], [], SourceFiles({}))
    codes = {reason.code for reason in watch._unseen([trace], None)}
    assert ("torch_on_gpu" in codes) == used


@pytest.mark.parametrize(
    ("options", "seconds", "named"),
    [
        ("debug=True", 2.0, True),
        ("debug=True", 0.1, False),  # of no matter
        ("debug=True, boundscheck=False", 2.0, False),
        ("boundscheck=True", 2.0, True),
        ("cache=True", 2.0, False),
    ],
)
def test_options_of_numba_that_check_every_index_are_named(
    options: str, seconds: float, *, named: bool
) -> None:
    function = {"name": "work", "path": FILE, "line": 1, "whose": "user"}
    call = journals.call(1, framework="numba", stack=[[FILE, 5, "<module>"]], function=function)
    text = f"@njit({options})\ndef work(x):\n    return x\n\nwork(1)\n"
    more = [call, journals.stage(1, 9.0, {"compile": 0.01})]
    found = seen(text, looks=[(5, "", seconds)], more=more)
    assert [(one.pattern, one.line) for one in found] == [("debug-setting-on", 1)] * named


@pytest.mark.parametrize(
    ("name", "written", "code"),
    [
        (
            "--xla_disable_hlo_passes=fusion",
            'FLAGS = "--xla_cpu_x --xla_disable_hlo_passes=fusion"',
            "doctor_not_optimized",
        ),
        (
            "jax_disable_most_optimizations",
            'jax.config.update("jax_disable_most_optimizations", True)',
            "doctor_not_optimized",
        ),
        ("jax_debug_nans", 'jax.config.update("jax_debug_nans", True)', "doctor_debug_jax"),
        ("--xla_disable_hlo_passes=fusion", "FLAGS = other", None),  # set from outside
    ],
)
def test_settings_are_named_where_a_file_sets_them_that_ran_too_briefly_to_be_seen(
    name: str, written: str, code: str | None
) -> None:
    row = {"kind": "debugging", "at_s": journals.BEGIN_S, "on": [name], "files": [FILE]}
    found = seen(f"import jax\n{written}\n", more=[row])
    assert [(one.line, one.says.code) for one in found] == ([(2, code)] if code else [])


EPOCHS = """
loader = DataLoader(data, {options})
for epoch in range(9):
    for x, y in loader:
        step(x, y)
"""
START, NEXT = "torch.DataLoader.__iter__", "torch._BaseDataLoaderIter.__next__"


@pytest.mark.parametrize(
    ("options", "below", "seconds", "named"),
    [
        ("num_workers=2", START, 2.0, "dataloader-restart"),
        ("num_workers=2", START, 0.2, ""),
        ("num_workers=2, persistent_workers=True", START, 2.0, ""),
        ("shuffle=True", START, 2.0, ""),
        ("shuffle=True", NEXT, 4.0, "dataloader-wait"),
        ("shuffle=True", NEXT, 1.5, ""),  # less than a quarter of the run
        ("num_workers=2", NEXT, 1.5, "dataloader-wait"),
        ("num_workers=2, persistent_workers=True", NEXT, 1.5, ""),
    ],
)
def test_what_a_loader_takes_is_named(options: str, below: str, seconds: float, named: str) -> None:
    text = EPOCHS.format(options=options)
    for one in (text, text.replace("DataLoader(", "partial(DataLoader, ")):
        found = seen(one, looks=[(4, below, seconds)])
        assert patterns(found) == [(named, 4, seconds)] * bool(named)


@pytest.mark.parametrize(
    ("tuples", "arguments", "seconds", "named"),
    [
        ({"TABLE": 800}, {}, 3.0, True),
        ({}, {"x": "UniTuple(float64 x 300)"}, 3.0, True),
        ({}, {"x": "UniTuple(array(float64, 1d, C) x 3), array(floa"}, 3.0, False),
        ({}, {"x": "UniTuple(float64 x 3)"}, 3.0, False),
        ({"TABLE": 800}, {}, 0.1, False),
    ],
)
def test_long_tuples_of_numba_are_named(
    tuples: dict[str, int], arguments: dict[str, str], seconds: float, *, named: bool
) -> None:
    function = {"name": "work", "path": FILE, "line": 1, "whose": "user"}
    call = journals.call(
        1,
        framework="numba",
        function=function,
        tuples=tuples,
        signature={"arguments": arguments, "static": {}},
    )
    text = "def work(x):\n    return TABLE[x[0]]\n"
    found = seen(text, more=[call, journals.stage(1, 0.0, {"compile": seconds})])
    assert [one.pattern for one in found] == ["numba-long-tuple"] * named
    assert [one.line for one in found] == [2] * named


def test_long_tuples_are_seen_in_what_a_function_calls() -> None:
    numba = pytest.importorskip("numba")
    from coldwarm.doctor.record.compiled_functions import tuples

    table = tuple(range(300))

    @numba.njit  # type: ignore[untyped-decorator] # Numba has no types
    def inner(k: int) -> int:
        return table[k]

    def outer(k: int) -> Any:
        return inner(k)

    assert tuples(outer) == {"table": 300}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("STEPS = 3\ndef net(x):\n    for _ in range(STEPS):\n        x = f(x)\n", []),
        ("STEPS = 40\ndef net(x):\n    for _ in range(STEPS):\n        x = f(x)\n", [3]),
        ("def net(x, n):\n    for _ in range(n):\n        x = f(x)\n", [2]),  # nobody knows
        ("def net(x, n=4):\n    for _ in range(n):\n        x = f(x)\n", []),
        (
            "def net(n=4):\n    for _ in range(n):\n        for k in range(8):\n            f(k)\n",
            [2],
        ),
        ("def net(x):\n    for layer in layers:\n        x = layer(x)\n", []),
    ],
)
def test_loops_of_pytorch_with_few_turns_are_let_alone(text: str, named: list[int]) -> None:
    line = 1 + text[: text.index("def ")].count("\n")
    function = {"name": "net", "path": FILE, "line": line, "whose": "user"}
    call = journals.call(1, framework="torch", stack=[[FILE, 9, "<module>"]], function=function)
    rows = [journals.process(), call, journals.stage(1, 0.0, {"compile": 8.0}), journals.end(14.0)]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: text + "\n" * 5 + "net(1)\n"})))
    assert [one.line for one in found if one.pattern == "python-loop-unrolled"] == named


@pytest.mark.parametrize(
    ("compiled_s", "lasted_s", "named"), [(8.0, 8.6, True), (8.0, 10.0, False), (2.0, 2.1, False)]
)
def test_compiling_that_cannot_pay_is_named(
    compiled_s: float, lasted_s: float, *, named: bool
) -> None:
    function = {"name": "net", "path": FILE, "line": 1, "whose": "user"}
    call = journals.call(1, framework="torch", stack=[[FILE, 4, "<module>"]], function=function)
    rows = [journals.process(), call, journals.stage(1, 0.0, {"compile": compiled_s})]
    sources = SourceFiles({FILE: "def net(x):\n    return x\n\nnet(1)\n"})
    error = {"kind": "error", "error": "KeyError", "stack": [], "inside": [], "at_s": 1002.0}
    end = journals.end(lasted_s)
    found = findings(ProcessTrace.of([*rows, end], [], sources))
    assert [(one.pattern, one.line) for one in found] == [("compile-unpaid", 4)] * named
    failed = findings(ProcessTrace.of([*rows, error, end], [], sources))
    assert [one.pattern for one in failed if one.pattern == "compile-unpaid"] == []


@pytest.mark.parametrize(
    ("text", "n", "seconds", "named"),
    [
        ("for day in days:\n    pool = Pool(2)\n", 12, 1.0, True),
        ("for day in days:\n    pool = Pool(2)\n", 3, 9.0, False),
        ("for day in days:\n    pool = Pool(2)\n", 12, 0.01, False),
        ("\npool = Pool(12)\n", 12, 1.0, False),
        ("\npool = Pool(2, maxtasksperchild=1)\n", 12, 1.0, True),
        ("for day in days:\n    seeds = root.spawn(2)\n", 12, 1.0, False),
    ],
)
def test_processes_that_are_started_again_and_again_are_named(
    text: str, n: int, seconds: float, *, named: bool
) -> None:
    sources = SourceFiles({FILE: text})
    first = [
        journals.process(),
        *journals.looks(0.0, ((FILE, 2), "", 1.0)),
        {"kind": "debugging", "at_s": journals.BEGIN_S, "processors": 2},
        journals.end(END_S),
    ]
    child = [
        journals.process(pid=5),
        {"kind": "framework", "at_s": journals.BEGIN_S, "name": "numba", "versions": {}},
        journals.imported("numba", 0.0, seconds),
        journals.end(seconds),
    ]
    traces = [ProcessTrace.of(rows, [], sources) for rows in [first, *[child] * n]]
    found = findings_across(traces)
    assert [(one.pattern, one.line) for one in found] == [("imported-per-process", 2)] * named


TIMED = """def {name}(x):
    begin = time.perf_counter()
    net(x)
    return {use}

def net(x):
    return x

{name}(1)
"""


@pytest.mark.parametrize(
    ("name", "use", "named"),
    [
        ("warm_up", "time.perf_counter() - begin", False),  # it is what the program wants to know
        ("work", "1000 / (time.perf_counter() - begin)", False),
        ("work", "time.perf_counter() - begin", True),
    ],
)
def test_compiling_that_is_measured_is_let_alone(name: str, use: str, *, named: bool) -> None:
    function = {"name": "net", "path": FILE, "line": 6, "whose": "user"}
    stack = [[FILE, 3, name], [FILE, 9, "<module>"]]
    call = journals.call(1, framework="torch", stack=stack, function=function)
    rows = [journals.process(), call, journals.stage(1, 0.0, {"compile": 8.0}), journals.end(8.6)]
    sources = SourceFiles({FILE: TIMED.format(name=name, use=use)})
    found = findings(ProcessTrace.of(rows, [], sources))
    assert [one.pattern for one in found if one.pattern == "compile-unpaid"] == [
        "compile-unpaid"
    ] * named


@pytest.mark.parametrize(("donated", "n_reusable"), [((), 2), ((0,), 1), ((0, 1), 0), ((1,), 1)])
def test_an_output_that_has_the_memory_of_an_input_needs_no_other(
    donated: tuple[int, ...], n_reusable: int
) -> None:
    jax = pytest.importorskip("jax")
    from coldwarm.doctor.record.jaxprs import looked_into

    x = jax.numpy.ones((64, 64))
    closed = jax.make_jaxpr(lambda u, f: (u + f, u * f))(x, x)
    found = looked_into((closed, [place in donated for place in range(2)]))
    assert found is not None
    assert found["reusable_bytes"] == n_reusable * 64 * 64 * 4
