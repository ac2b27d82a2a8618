"""What findings read from a program's own text: its loops, its clocks, its assignments."""

from __future__ import annotations

import ast

import pytest

from coldwarm.doctor.source_code import SourceFiles

TEXT = """
def train(state):
    begin = time.perf_counter()
    for batch in batches(
        1,
    ):
        state = step(state, batch)
        def inner():
            return once()
    end = time.perf_counter()
    print(end - begin)
    print(time.perf_counter() - begin)
    while time.monotonic() < deadline:
        work(state)
    return [use(one) for one in state]
"""
FILE = "a.py"


def line(text: str) -> int:
    return next(at for at, row in enumerate(TEXT.splitlines(), 1) if text in row)


SOURCES = SourceFiles({FILE: TEXT})


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("state = step", True),
        ("return once()", False),
        ("work(state)", True),
        ("use(one)", True),
        ("begin = ", False),
        ("for batch in", False),
    ],
)
def test_a_line_is_in_a_loop_of_its_own_function(text: str, inside: bool) -> None:  # noqa: FBT001 - a parameter
    assert (SOURCES.loop(FILE, line(text)) is not None) == inside


@pytest.mark.parametrize(
    ("text", "ends"),
    [("begin = ", False), ("end = ", True), ("print(time", True), ("while time", False)],
)
def test_a_clock_ends_an_interval_where_another_reading_is_taken_from_it(
    text: str,
    ends: bool,  # noqa: FBT001 - a parameter
) -> None:
    assert SOURCES.ends_interval(FILE, line(text)) == ends


def test_a_function_takes_from_around_what_it_neither_makes_nor_is_given() -> None:
    text = "def make(a):\n    w = load()\n    return lambda x: step(w, x, a)\nw = 1\n"
    sources = SourceFiles({FILE: text})
    taken = [name for name in "wxa" if sources.takes_from_around(FILE, 3, name)]
    assert taken == ["w", "a"]
    assert not sources.takes_from_around(FILE, 2, "w")
    assert not sources.takes_from_around(FILE, 4, "w")


def test_what_a_line_gives_to_a_call_and_gets_back() -> None:
    text = (
        "state = step(state, batch)\n"
        "self.state, loss = self.step(self.state, batch)\n"
        "p = update(p, grad(p, x))\n"
        "a = f(a, g(b))\n"
        "p, s = step((p, s), x)\n"
    )
    sources = SourceFiles({FILE: text})
    assert sources.replaced(FILE, 1, "any name") == {"state"}
    assert sources.replaced(FILE, 2, "_step") == {"self.state"}
    assert sources.replaced(FILE, 3, "update") == {"p"}
    assert sources.replaced(FILE, 3, "grad") == set()
    assert sources.replaced(FILE, 4, "g") == set()
    assert sources.replaced(FILE, 5, "step") == {"p", "s"}


def test_a_file_that_is_no_python_or_is_missing_tells_nothing() -> None:
    broken = SourceFiles({FILE: "def ("})
    assert broken.loop(FILE, 1) is None
    assert broken.line("elsewhere.py", 3) == ""
    assert not broken.ends_interval(FILE, 1)


def test_a_comprehension_in_a_loop_is_a_part_of_its_turns() -> None:
    text = "while True:\n    part = rows[a:b]\n    yield [take(one, part) for one in arrays]\n"
    found = SourceFiles({FILE: text})
    assert found.loop(FILE, 3) == found.loop(FILE, 2) == (1, 3)


@pytest.mark.parametrize(
    ("body", "prints"),
    [("    y = f(x)\n    print(y)\n", True), ("    y = f(x)\n", False)],
)
def test_a_piece_of_a_program_that_prints_is_told_from_calls(body: str, *, prints: bool) -> None:
    text = f"t0 = clock()\nfor x in xs:\n{body}print(clock() - t0)\n"
    last = text.count("\n")
    assert SourceFiles({"/a.py": text}).prints_between("/a.py", 1, last) == prints


@pytest.mark.parametrize(
    ("through", "n"),
    [
        ("range(5)", 5),
        ("range(n)", 64),
        ("range(2, n)", 62),
        ("range(-1, 5)", 6),
        ("range(0, n, 16)", 4),
        ("range(n, 0, -1)", 64),
        ("range(0, n, m)", None),
        ("range(m, n)", 64),  # not more
        ("enumerate(range(3, 8), 1)", 5),
        ("enumerate(xs, 1)", None),
        ("enumerate((a, b))", 2),
        ("reversed(range(7))", 7),
        ("(a, *xs)", None),
    ],
)
def test_how_often_a_loop_turns(through: str, n: int | None) -> None:
    text = f"n = 64\nfor k in {through}:\n    pass\n"
    sources = SourceFiles({FILE: text})
    (loop,) = (one for one in sources.nodes(FILE) if isinstance(one, ast.For))
    assert sources.turns(FILE, loop) == n
