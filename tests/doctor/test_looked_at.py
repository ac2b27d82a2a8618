"""What is named by where the time was seen to go: small calls, elements, operations, reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S

from coldwarm.doctor.judge import findings, findings_across
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.doctor import Finding

FILE = "/a.py"
END_S = 10.0


def seen(
    text: str,
    *places: tuple[str, int, tuple[int, ...]],
    looks: Sequence[tuple[int, str, float]] = (),
    more: Sequence[dict[str, Any]] = (),
    sees_calls: bool = True,
) -> list[Finding]:
    """Return what is found.

    Places have a kind, a line and numbers; looks have a line, what ran there, and seconds.
    """
    rows = [
        journals.process(sees_calls=sees_calls),
        *(
            {
                "kind": "place",
                "at_s": BEGIN_S,
                "what": what,
                "name": "work",
                "slot": at * 4,
                "stack": [[FILE, line, "<module>"]],
            }
            for at, (what, line, _) in enumerate(places)
        ),
        *journals.looks(0.0, *(((FILE, line), below, spent) for line, below, spent in looks)),
        *more,
        journals.end(END_S),
    ]
    counts = [number for *_, numbers in places for number in (*numbers, 0, 0, 0, 0)[:4]]
    return findings(ProcessTrace.of(rows, counts, SourceFiles({FILE: text})))


def patterns(found: list[Finding]) -> list[tuple[str, int, float | None]]:
    return [(one.pattern, one.line, one.cost_s) for one in found]


CELLS = "for i in range(n):\n    out[i] = work(out[i - 1], x[i])\n"
MICROSECOND = 1000
ROW = 20_000


@pytest.mark.parametrize(
    ("numbers", "seconds", "named"),
    [
        ((ROW, 3 * ROW * MICROSECOND), 4.0, True),
        ((ROW, 3 * ROW * MICROSECOND), 0.1, False),  # of no matter
        ((ROW, 900 * ROW * MICROSECOND), 9.0, False),  # the calls themselves are long
        ((300, 900 * MICROSECOND), 4.0, False),
    ],
)
def test_a_loop_that_calls_numba_for_each_element_is_named(
    numbers: tuple[int, int], seconds: float, *, named: bool
) -> None:
    found = seen(CELLS, ("numba", 2, numbers), looks=[(2, "", seconds)])
    assert patterns(found) == [("numba-call-per-element", 2, seconds)] * named
    assert seen("work(1, 2)\n", ("numba", 1, numbers), looks=[(1, "", seconds)]) == []


def test_items_of_numbas_own_list_are_named() -> None:
    found = seen("for x in xs:\n    items.append(x)\n", looks=[(2, "numba.List.append", 3.0)])
    assert patterns(found) == [("numba-call-per-element", 2, 3.0)]
    assert seen("items.append(1)\n", looks=[(1, "numba.List.append", 3.0)]) == []


OBJECT_MODE = """
@njit
def colour(x):
    with objmode(r="float64"):
        r = colorsys.hsv_to_rgb(x, 1.0, 1.0)[0]
    return r

picture = colour(0.5)
"""


def test_python_below_a_compiled_function_is_object_mode() -> None:
    function = {"name": "colour", "path": FILE, "line": 2, "whose": "user"}
    row = journals.call(1, framework="numba", stack=[[FILE, 8, "<module>"]], function=function)
    more = [row, journals.stage(1, 0.0, {"compile": 0.01})]
    found = seen(OBJECT_MODE, looks=[(8, "colorsys.hsv_to_rgb", 2.0)], more=more)
    assert [(one.pattern, one.line, one.function) for one in found] == [
        ("numba-object-mode", 4, "colour")
    ]
    assert seen(OBJECT_MODE, looks=[(8, "scipy.minimize", 2.0)], more=more) == []


ALONE = "for i in range(n):\n    fitted.append(work(data[i]))\n"
CARRIED = "for i in range(n):\n    state = work(state, data[i])\n"
ENVIRONMENT = """
for i in range(n):
    action = work(params, seen)
    seen, reward = env.step(int(action))
"""


@pytest.mark.parametrize(
    ("text", "n", "each_us", "code"),
    [
        (ALONE, 5000, 40, "doctor_jit_calls"),
        (ALONE, 1000, 40, None),
        (ALONE, 5000, 900, None),  # a call that computes
        (CARRIED, 20_000, 40, "doctor_jit_carried"),
        (CARRIED, 5000, 40, None),
        (CARRIED, 20_000, 200, None),
    ],
)
def test_many_small_calls_of_one_function_are_named(
    text: str, n: int, each_us: int, code: str | None
) -> None:
    numbers = (n, n * each_us * MICROSECOND)
    found = seen(text, ("jitted", 2, numbers), looks=[(2, "", 2.0)])
    assert [one.says.code for one in found] == [code] * (code is not None)
    assert seen(text, ("jitted", 2, numbers), looks=[(2, "", 0.2)]) == []


HANDED = "def cost(x):\n    return work(x)\n\nfor start in starts:\n    found.append({call})\n"


@pytest.mark.parametrize(("call", "named"), [("cost(start)", True), ("fit(cost, start)", False)])
def test_calls_of_a_function_that_is_handed_over_are_anothers(call: str, *, named: bool) -> None:
    n = 20_000
    row = {"kind": "place", "at_s": BEGIN_S, "what": "jitted", "name": "work", "slot": 0}
    stack = [[FILE, 2, "cost"], [FILE, 5, "<module>"]]
    spot = {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": ""}
    seen_s = {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S, "runs": [[1, 3.0]]}
    rows = [journals.process(), {**row, "stack": stack}, spot, seen_s, journals.end(END_S)]
    counts = [n, n * 30 * MICROSECOND, 0, 0]
    sources = SourceFiles({FILE: HANDED.format(call=call)})
    found = findings(ProcessTrace.of(rows, counts, sources))
    assert [one.pattern for one in found] == ["jit-call-per-element"] * named


OBJECTS = """
class Body:
    def turn(self):
        self.state = work(self.state)

for body in bodies:
    body.turn()
for _ in range(n):
    body.turn()
"""


@pytest.mark.parametrize(("line", "code"), [(7, "doctor_jit_calls"), (9, "doctor_jit_carried")])
def test_an_object_carries_its_state_from_turn_to_turn(line: int, code: str) -> None:
    n = 20_000
    row = {"kind": "place", "at_s": BEGIN_S, "what": "jitted", "name": "work", "slot": 0}
    stack = [[FILE, 4, "Body.turn"], [FILE, line, "<module>"]]
    spot = {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": ""}
    seen_s = {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S, "runs": [[1, 3.0]]}
    rows = [journals.process(), {**row, "stack": stack}, spot, seen_s, journals.end(END_S)]
    counts = [n, n * 30 * MICROSECOND, 0, 0]
    found = findings(ProcessTrace.of(rows, counts, SourceFiles({FILE: OBJECTS})))
    assert [one.says.code for one in found] == [code]


def test_an_environment_on_the_host_needs_each_call_by_itself() -> None:
    n = 20_000
    numbers, reads = (n, 30 * n * MICROSECOND), (n, n, 10**9, n)
    found = seen(ENVIRONMENT, ("jitted", 3, numbers), ("read", 4, reads), looks=[(3, "", 4.0)])
    assert found == []


LISTED = "for i in order:\n    batch = torch.tensor([rows[k] for k in i])\n"


def test_tensors_of_lists_are_named_where_they_take_long() -> None:
    assert patterns(seen(LISTED, looks=[(2, "", 2.0)])) == [("tensor-from-list", 2, 2.0)]
    assert seen(LISTED, looks=[(2, "", 0.2)]) == []
    (found,) = seen("for b in bs:\n    y = torch.tensor(b)\n", looks=[(2, "", 2.0)])
    assert found.says.code == "doctor_list_given", "who knows what that is"


APART = "for i in range(n):\n    out.write(f'{float(x[i]):.3f}')\n"
GIVEN = "for i in range(n):\n    y = x[i]\n"
GET = "jax.ArrayImpl.__getitem__"


@pytest.mark.parametrize("sees_calls", [True, False])
def test_an_array_that_is_taken_apart_for_the_host_is_named(*, sees_calls: bool) -> None:
    found = seen(APART, looks=[(2, GET, 2.0)], sees_calls=sees_calls)
    assert [(one.line, one.says.code) for one in found] == [(2, "doctor_elements")]
    assert found[0].saving_s == 2.0
    assert seen(GIVEN, looks=[(2, GET, 2.0)], sees_calls=sees_calls) == []


def test_operations_are_seen_where_calls_are_not() -> None:
    text = "for i in range(n):\n    x = x - 0.1 * jax.grad(loss)(x)\n"
    looks = [(2, "jax.grad", 3.0), (2, "jax._cpp_pjit", 4.0)]
    found = seen(text, looks=looks, sees_calls=False)
    assert patterns(found) == [("no-jit-hot-loop", 2, 3.0)]
    assert seen("x = jax.grad(loss)(x)\n", looks=[(1, "jax.grad", 3.0)], sees_calls=False) == []


def test_an_array_of_zeros_waits_for_what_was_dispatched_before() -> None:
    text = "for i in range(n):\n    x = start(jnp.zeros(3))\n"
    assert seen(text, looks=[(2, "jax.zeros", 3.0)], sees_calls=False) == []
    found = seen(text, looks=[(2, "jax.zeros", 3.0), (2, "jax.roll", 2.0)], sees_calls=False)
    assert patterns(found) == [("no-jit-hot-loop", 2, 2.0)]


def test_a_gradient_costs_what_python_does_for_it_too() -> None:
    text = "for i in range(n):\n    x = x - 0.1 * jax.grad(loss)(x)\n"
    operations = ("operation", 2, (1000, 300_000_000))
    (found,) = seen(text, operations, looks=[(2, "jax.grad", 3.0)])
    assert (found.pattern, found.cost_s) == ("no-jit-hot-loop", 3.0)


READ = "for b in batches:\n    state, loss = work(state, b)\n    losses.append(float(loss))\n"


def test_a_wait_costs_no_more_than_what_could_be_done_meanwhile() -> None:
    places = ("jitted", 2, (50, 10**7)), ("read", 3, (50, 50, 4 * 10**9, 50))
    (found,) = seen(READ, *places, looks=[(2, "", 0.3), (3, "", 4.0)])
    assert found.says.code == "doctor_reads_beside"
    assert found.cost_s == pytest.approx(0.3)
    (busy,) = seen(READ, *places, looks=[(2, "", 5.0), (3, "", 4.0)])
    assert busy.cost_s == 4.0


ATTRIBUTE = """
class Model:
    @partial(jax.jit, static_argnums=0)
    def work(self, x):
        return {use}

    def scaled(self, x):
        return self.rate * x

model.work(x)
"""


@pytest.mark.parametrize("use", ["self.scaled(x)", "jax.grad(self.scaled)(x)"])
@pytest.mark.parametrize(("name", "named"), [("self.rate", True), ("self.turns", False)])
def test_a_value_that_has_changed_is_named_where_the_function_reads_it(
    use: str, name: str, *, named: bool
) -> None:
    function = {"name": "Model.work", "path": FILE, "line": 3, "whose": "user"}
    row = {"kind": "stale", "at_s": BEGIN_S, "function": function, "slot": 0, "name": name}
    more = [{**row, "before": "1", "now": "2"}]
    found = seen(ATTRIBUTE.format(use=use), ("jitted", 10, (5,)), more=more)
    assert patterns(found) == [("stale-value-in-traced", 3, None)] * named


KERNEL = """
@njit({options})
def work(x):
    out = np.zeros(len(x))
    total = np.zeros(3)
    for i in prange(len(x)):
        low, high = 8 * i, 8 * i + 8
        {body}
    return out

work(x)
"""


@pytest.mark.parametrize(
    ("options", "body", "named"),
    [
        ("parallel=True", "total[0] += x[i]", ["numba-race"]),
        ("parallel=True", "total[:] = 0.0", ["numba-race"]),
        ("", "total[0] += x[i]", []),
        ("parallel=True", "out[i] = x[i]", []),
        ("parallel=True", "for k in range(low, high): out[k] += x[k]", []),
        ("parallel=True", "if i == 0: total[0] = 1.0", []),
        ("parallel=True", "own = np.zeros(3); own[0] += x[i]", []),
        ("parallel=True", "out[int(x[i])] += 1", ["numba-race"]),
        ("parallel=True", "b = int(x[i]); out[b] += 1", ["numba-race"]),
        ("parallel=True", "out[i, int(x[i])] += 1", []),
        ("parallel=True", "own = out[i]; own[int(x[i])] += 1", []),
        ("", "out[int(x[i])] += 1", []),
        ("fastmath=True", "out[i] = 0.0 if np.isnan(x[i]) else x[i]", ["numba-fastmath-nan"]),
        ("fastmath={'nsz'}", "out[i] = 0.0 if np.isnan(x[i]) else x[i]", []),
    ],
)
def test_what_numba_takes_otherwise_than_python_is_named(
    options: str, body: str, named: list[str]
) -> None:
    function = {"name": "work", "path": FILE, "line": 2, "whose": "user"}
    call = journals.call(1, framework="numba", stack=[[FILE, 12, "<module>"]], function=function)
    more = [call, journals.stage(1, 0.0, {"compile": 0.01})]
    found = seen(KERNEL.format(options=options, body=body), more=more)
    assert [one.pattern for one in found] == named


SWEEP = """
import model

for c in couplings:
    model.STRENGTH = c
    model.work(x)
{more}
"""
MODEL = "/model.py"


@pytest.mark.parametrize(
    ("read", "more", "named"),
    [
        ("STRENGTH * x", "", True),
        ("OTHER * x", "", False),
        ("STRENGTH * x", "model.work.recompile()", False),
    ],
)
def test_a_variable_that_numba_has_frozen_is_named(read: str, more: str, *, named: bool) -> None:
    function = {"name": "work", "path": MODEL, "line": 1, "whose": "user"}
    call = journals.call(1, framework="numba", stack=[[FILE, 6, "<module>"]], function=function)
    rows = [
        journals.process(),
        call,
        journals.stage(1, 0.0, {"compile": 0.01}),
        {"kind": "debugging", "at_s": BEGIN_S, "on": [], "files": [FILE, MODEL]},
        journals.end(END_S),
    ]
    model = f"@njit\ndef work(x):\n    return {read}\n"
    sources = SourceFiles({FILE: SWEEP.format(more=more), MODEL: model})
    found = findings(ProcessTrace.of(rows, [], sources))
    assert [(one.pattern, one.line) for one in found] == [("numba-frozen-global", 5)] * named


STEPS = "for k in range(n):\n    cells[k].step(x)\n"


@pytest.mark.parametrize(
    ("header_s", "line_s", "named"), [(0.05, 4.0, True), (0.0, 4.0, False), (0.05, 0.1, False)]
)
def test_methods_of_numbas_classes_are_named_where_turns_are_short(
    header_s: float, line_s: float, *, named: bool
) -> None:
    looks = [(2, "numba._generate_method", line_s), (1, "", header_s)]
    found = seen(STEPS, looks=[one for one in looks if one[2]])
    assert patterns(found) == [("numba-call-per-element", 2, line_s)] * named


def test_turns_are_short_where_copying_a_value_takes_a_share_of_them() -> None:
    text = "for k in range(n):\n    rover.step(x)\n    {line}\n"
    quick = ("seen[k] = rover.x", "turn = 3 - turn", "if turn:\n        break")
    slow = ("seen = work(rover.x)", "seen = x[1:]")
    for line, named in [*((one, True) for one in quick), *((one, False) for one in slow)]:
        looks = [(2, "numba._generate_method", 2.0), (3, "", 0.2)]
        found = seen(text.format(line=line), looks=looks)
        assert [one.pattern for one in found] == ["numba-call-per-element"] * named


def test_attributes_of_numbas_classes_count_where_methods_are_used() -> None:
    text = "for k in range(n):\n    rover.step(x)\n    seen[k] = rover.x\n    y = other.x\n"
    looks = [(2, "numba._generate_method", 0.2), (3, "", 1.0), (4, "", 1.0), (1, "", 0.05)]
    found = seen(text, looks=looks)
    (one,) = found
    assert (one.pattern, one.line, round(one.cost_s or 0.0, 6)) == (
        "numba-call-per-element",
        2,
        1.2,
    )


def test_compiled_functions_under_numpys_vectorize_are_named() -> None:
    text = "slow = np.vectorize({given})\nout = slow(x)\n"
    function = {"name": "work", "path": FILE, "line": 9, "whose": "user"}
    row = journals.call(1, framework="numba", stack=[[FILE, 2, "<module>"]], function=function)
    more = [row, journals.stage(1, 9.0, {"compile": 0.01})]
    for given, named in (("work", True), ("other", False)):
        looks = [(2, "numpy.vectorize.__call__", 2.0)]
        found = seen(text.format(given=given), looks=looks, more=more)
        assert patterns(found) == [("numba-call-per-element", 2, 2.0)] * named


BLOCKED = """
@njit
def total(xs):
    s = 0.0
    for x in xs:
        with objmode(y="float64"):
            y = special.gammaln(x)
        s += y
    return s

total(xs)
"""


def test_a_block_of_object_mode_is_named_by_how_often_it_begins() -> None:
    function = {"name": "total", "path": FILE, "line": 2, "whose": "user"}
    row = journals.call(1, framework="numba", stack=[[FILE, 11, "<module>"]], function=function)
    more = [row, journals.stage(1, 0.0, {"compile": 0.01})]
    looks = [(11, "numba._numba_unpickle", 2.0)]
    found = seen(BLOCKED, ("object_mode", 6, (400_000,)), looks=looks, more=more)
    assert [(one.pattern, one.line) for one in found] == [("numba-object-mode", 6)]
    # What compiled code does before a block is looked at as a part of it.
    assert seen(BLOCKED, ("object_mode", 6, (4000,)), looks=looks, more=more) == []
    assert seen(BLOCKED, ("object_mode", 6, (400_000,)), looks=[(11, "", 2.0)], more=more) == []


SEEDED = """
@njit
def seeded(n):
    np.random.seed(n)

@njit
def work(n):
    return np.random.normal()

{seed}(3)
work(1)
"""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (SEEDED.replace("    np.random.seed(n)", "    pass").format(seed="np.random.seed"), True),
        (SEEDED.format(seed="np.random.seed"), False),  # Numba's own is seeded, too
        (SEEDED.replace("    np.random.seed(n)", "    pass").format(seed="rng.seed"), False),
    ],
)
def test_a_seed_that_numba_does_not_see_is_named(text: str, *, named: bool) -> None:
    function = {"name": "work", "path": FILE, "line": 6, "whose": "user"}
    call = journals.call(1, framework="numba", stack=[[FILE, 11, "<module>"]], function=function)
    more = [call, journals.stage(1, 0.0, {"compile": 0.01})]
    assert [one.pattern for one in seen(text, more=more)] == ["numba-seed"] * named


CALLING_BACK = "def step(y):\n    jax.debug.callback(report, y)\n    return y\n\nwork(1)\n"


def test_callbacks_are_named_where_they_are_asked_for() -> None:
    function = {"name": "step", "path": FILE, "line": 1, "whose": "user"}
    more = [journals.call(1, function=function), journals.stage(1, 0.0, {"compile": 0.01})]
    (found,) = seen(CALLING_BACK, ("callback", 5, (4000,)), more=more)
    assert (found.pattern, found.line, found.n) == ("host-callback-often", 2, 4000)
    assert seen(CALLING_BACK, ("callback", 5, (40,)), more=more) == []
    looks = [(5, "jax.emit_python_callback", 3.0)]
    (seen_only,) = seen(CALLING_BACK, looks=looks, more=more, sees_calls=False)
    assert seen_only.line == 2
    assert seen_only.cost_s == pytest.approx(3.0, abs=0.1)


def compiling(number: int, seconds: float) -> list[dict[str, Any]]:
    function = {"name": "kernel", "path": FILE, "line": 2, "whose": "user"}
    call = journals.call(number, framework="numba", stack=[[FILE, 5, "work"]], function=function)
    return [call, journals.stage(number, 0.0, {"compile": seconds})]


@pytest.mark.parametrize(
    ("n", "seconds", "named"), [(6, 1.0, True), (3, 9.0, False), (6, 0.01, False)]
)
def test_what_each_process_compiles_for_itself_is_named_once(
    n: int, seconds: float, *, named: bool
) -> None:
    sources = SourceFiles({FILE: "\n" * 10})
    traces = [
        ProcessTrace.of(
            [journals.process(pid=at), *compiling(1, seconds), journals.end(END_S)], [], sources
        )
        for at in range(n)
    ]
    found = findings_across(traces)
    assert [one.pattern for one in found] == ["compiled-per-process"] * named
    assert [one.cost_s for one in found] == [pytest.approx(n * seconds)] * named


HOURS = """
def forward(self, inflow):
    for layer in self.layers:
        inflow = layer(inflow)
    for hour in range(1, len(inflow)):
        flow = self.route(flow, inflow[hour])
    return flow

model(x)
"""


@pytest.mark.parametrize(("seconds", "named"), [(6.0, True), (1.0, False)])
def test_a_loop_that_pytorch_writes_out_is_named_where_it_takes_long(
    seconds: float, *, named: bool
) -> None:
    function = {"name": "forward", "path": FILE, "line": 2, "whose": "user"}
    call = journals.call(1, framework="torch", stack=[[FILE, 9, "<module>"]], function=function)
    more = [call, journals.stage(1, 0.0, {"compile": seconds})]
    found = seen(HOURS, more=more)
    assert patterns(found) == [("python-loop-unrolled", 5, seconds)] * named


SIGNED = """
@njit({signature})
def total(a, out):
    for i in range(len(a)):
        out[i] = a[i].sum()

total(a, out)
"""


@pytest.mark.parametrize(
    ("signature", "seconds", "named"),
    [
        ('"void(float64[:,:], float64[:])"', 3.0, True),
        ("[(float64[:, :], float64[:])]", 3.0, True),
        ('"void(float64[:,::1], float64[::1])"', 3.0, False),
        ("fastmath=True", 3.0, False),
        ('"void(float64[:,:], float64[:])"', 0.1, False),
    ],
)
def test_signatures_of_any_layout_are_named_where_they_run_long(
    signature: str, seconds: float, *, named: bool
) -> None:
    function = {"name": "total", "path": FILE, "line": 2, "whose": "user"}
    row = journals.call(1, framework="numba", stack=[[FILE, 2, "<module>"]], function=function)
    more = [row, journals.stage(1, 0.0, {"compile": 0.01})]
    found = seen(SIGNED.format(signature=signature), looks=[(7, "", seconds)], more=more)
    assert [(one.pattern, one.line) for one in found] == [("numba-any-layout", 2)] * named


ASKED = """
def objective(x):
    value = loss(x)
    return float(value)

for start in starts:
    {call}
"""


@pytest.mark.parametrize(
    ("call", "named"), [("minimize(objective, start)", False), ("objective(start)", True)]
)
def test_a_read_that_another_function_asks_for_is_no_fault(call: str, *, named: bool) -> None:
    n, stack = 400, [[FILE, 4, "objective"], [FILE, 7, "<module>"]]
    row = {"kind": "place", "at_s": BEGIN_S, "name": "loss", "stack": stack}
    work = {**row, "what": "jitted", "slot": 0, "stack": [[FILE, 3, "objective"], *stack[1:]]}
    read = {**row, "what": "read", "name": "value", "slot": 4}
    rows = [journals.process(), work, read, journals.end(END_S)]
    counts = [n, n * 30 * MICROSECOND, 0, 0, n, n, 10**9, n]
    found = findings(ProcessTrace.of(rows, counts, SourceFiles({FILE: ASKED.format(call=call)})))
    assert [one.pattern for one in found] == ["host-sync-in-loop"] * named


def test_a_transformation_in_a_loop_is_named_at_its_own_line() -> None:
    text = "def fit(x):\n    c = jax.hessian(loss)(x)\n    return c\n\nfor x in xs:\n    fit(x)\n"
    stack = [[FILE, 2, "fit"], [FILE, 6, "<module>"]]
    spot = {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": "jax.hessian"}
    spent = {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S, "runs": [[1, 3.0]]}
    rows = [journals.process(), spot, spent, journals.end(END_S)]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: text})))
    assert [(one.pattern, one.line) for one in found] == [("no-jit-hot-loop", 2)]
