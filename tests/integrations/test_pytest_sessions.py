"""The plug-in in sessions of pytest, with calls that are told to it as a framework would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from coldwarm.integrations import pytest_compiles

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]
COMPILED = """
import itertools
from coldwarm.doctor.record.recorder import followed

numbers = itertools.count(1_000_000)

def compiled(name, program, seconds, *, hit=False, value="1"):
    memory, number = followed(), next(numbers)
    place = {"name": name, "path": __file__, "line": 1}
    memory.write(
        "call", framework="jax", call=number, stack=[[__file__, 5, "test"]], thread=1,
        function=place, cause={"kind": "again", "differences": [
            {"kind": "static", "argument": "n", "before": "0", "now": value}]},
        signature={"arguments": {}, "static": {"n": value}},
    )
    memory.write(
        "stage", call=number, stage="compile", begin_s=0.0, seconds=seconds,
        own_s={"compile": seconds}, hit=hit, program=None, fingerprint=program,
    )
"""


@pytest.fixture(scope="module", autouse=True)
def _followed_from_here() -> None:
    pytest_compiles.begin()  # in a session, what waits for frameworks would be taken off at its end


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(telling=COMPILED)
    return pytester


BILLED = """
from telling import compiled

compiled("early", "e", 0.25)

def test_one():
    compiled("step", "a", 2.0)
    compiled("loss", "b", 1.0)

def test_two():
    compiled("step", "a", 1.5)

def test_none():
    pass
"""


def test_a_bill_has_tests_programs_and_what_a_cache_would_save(session: pytest.Pytester) -> None:
    session.makepyfile(BILLED)
    done = session.runpytest("--coldwarm-bill")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(
        [
            "*coldwarm: seconds of compiling*",
            "    3.00 s  *::test_one",
            "    1.50 s  *::test_two",
            "    0.25 s  while modules were imported and tests collected",
            "    4.75 s  in 3 tests, which took *",
            "*4 programs compiled: compile 4.75 s",
            "Compiled more than once: 1 program, once too often, 1.50 s",
            "    1.50 s  step, 2 times in *::test_one and 1 other test",
            "*would save at most 1.50 s of this run",
            "and 4.75 s of each later one*",
        ]
    )


@pytest.mark.slow
def test_workers_tell_their_bills(session: pytest.Pytester) -> None:
    session.makepyfile(BILLED)
    done = session.runpytest_subprocess("--coldwarm-bill", "-n", "2", "-p", "no:benchmark")
    done.assert_outcomes(passed=3)
    # Each worker imports the module, and pays for that again.
    done.stdout.fnmatch_lines(
        [
            "    0.50 s  while modules were imported and tests collected",
            "    5.00 s  in 3 tests, which took *",
            "Compiled more than once: 2 programs, 2 times too often, 1.75 s",
        ]
    )


def test_no_bill_without_the_option(session: pytest.Pytester) -> None:
    session.makepyfile(BILLED)
    session.runpytest().stdout.no_fnmatch_line("*seconds of compiling*")


GUARDED = """
import pytest
from telling import compiled

@pytest.mark.max_compiles(1)
def test_again():
    compiled("step", "a", 0.1, value="1")
    compiled("step", "b", 0.1, value="2")
    compiled("step", "c", 0.1, value="3")

@pytest.mark.max_compiles(0)
def test_a_program_from_disk_is_one_too():
    compiled("load", "a", 0.1, hit=True)

@pytest.mark.no_compiles
def test_a_program_from_disk_is_let_alone():
    compiled("load", "a", 0.1, hit=True)

@pytest.mark.no_compiles
def test_nothing_may_be_compiled():
    compiled("load", "a", 0.1, hit=True)
    compiled("load", "b", 0.1, value="4")

def test_a_block(coldwarm):
    with coldwarm.assert_no_recompile():
        compiled("loss", "d", 0.1, value="7")

def test_an_error_in_a_block_stays(coldwarm):
    with pytest.raises(ZeroDivisionError), coldwarm.assert_no_recompile():
        compiled("loss", "e", 0.1)
        1 / 0
"""


def test_a_failure_names_the_argument_and_all_its_earlier_values(
    session: pytest.Pytester,
) -> None:
    session.makepyfile(GUARDED)
    done = session.runpytest("--strict-markers")
    done.assert_outcomes(passed=2, failed=4)
    done.stdout.fnmatch_lines(
        [
            "compiled 3 times, at most 1 may be:",
            "*: step(n=3), compiled in 100 ms",
            "    `n` is 3; it was 0, and before 1, 2",
            "*: load(n=1), read from the cache in 100 ms",
            "*: load(n=4), compiled in 100 ms",
            "*compiled here, and nothing should be:",
            "*`n` is 7; it was 0",
        ]
    )


MARKED = """
import pytest
from telling import compiled

@pytest.mark.max_compiles({given})
def test_it():
    compiled("step", "a", 0.1)
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0", "compiled 1 time, at most 0 may be:"),
        ("5, operation=True", "max_compiles takes n and operations, not operation"),
        ("1, foo=2, bar=3", "max_compiles takes n and operations, not foo, bar"),
        ("1, 2", "max_compiles takes one number; operations by its name: operations=True"),
        ("1, n=2", "max_compiles takes one number; operations by its name: operations=True"),
        ("-1", "max_compiles takes a whole number, 0 or more: *"),
        ("True", "max_compiles takes a whole number, 0 or more: *"),
        ("", "max_compiles takes a whole number, 0 or more: *"),
        ("1, operations='no'", "max_compiles: operations is True or False, not 'no'"),
    ],
)
def test_a_marker_that_says_something_else_fails(
    session: pytest.Pytester, given: str, said: str
) -> None:
    session.makepyfile(MARKED.replace("{given}", given))
    done = session.runpytest()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([said])


@pytest.mark.parametrize("given", ["1", "n=1", "1, operations=True", "n=1, operations=False"])
def test_a_marker_that_is_kept_passes(session: pytest.Pytester, given: str) -> None:
    session.makepyfile(MARKED.replace("{given}", given))
    session.runpytest().assert_outcomes(passed=1)


MEASURED = """
def test_calls(coldwarm):
    for n in (10, 20):
        coldwarm.warm(sum, [1.0] * n)
"""


def test_what_was_measured_is_saved_and_compared(session: pytest.Pytester) -> None:
    session.makepyfile(MEASURED)
    session.runpytest("--coldwarm-save", "base.json").stdout.fnmatch_lines(
        [
            "*coldwarm: measured*",
            "*::test_calls: sum, warm call: * (* of 1 process*)",
            "saved in base.json; *",
        ]
    )
    saved = json.loads((session.path / "base.json").read_text(encoding="utf-8"))
    names = [one["metadata"]["name"].partition("::")[2] for one in saved["benchmarks"]]
    assert names == ["test_calls sum/warm_process/call", "test_calls sum/warm_process/call (2)"]
    done = session.runpytest("--coldwarm-compare", "base.json")
    done.stdout.fnmatch_lines(["*B against A*", "A  *base.json*", "B  *this session*"])
    done.stdout.fnmatch_lines(["2 figures of 2 cases: 0 same, 2 undecided."])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--coldwarm-compare", "none.json"], "none.json: no such file or directory"),
        (["--coldwarm-save", "nowhere/base.json"], "its folder is not there"),
        (["--coldwarm-save", "."], "is a folder; name a file"),
    ],
)
def test_what_cannot_be_is_told_before_the_tests(
    session: pytest.Pytester, options: list[str], told: str
) -> None:
    session.makepyfile(MEASURED)
    done = session.runpytest(*options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: *{told}*"])


def test_nothing_measured_is_told(session: pytest.Pytester) -> None:
    session.makepyfile("def test_it(): pass")
    done = session.runpytest("--coldwarm-save", "base.json")
    done.stdout.fnmatch_lines(["no test has measured anything*"])
    assert not (session.path / "base.json").exists()


WRONG = """
import pytest

@pytest.mark.parametrize("given", [
    {}, {"below": -1}, {"below": 1, "processes": 2}, {"below": 1, "caches": "hot"},
    {"baseline": "none.json"},
])
def test_it(coldwarm, given):
    coldwarm.assert_ttfr("job:f", **given)

def test_no_name(coldwarm):
    coldwarm.assert_ttfr(sum, below=1)
"""


def test_a_limit_that_is_none_is_told_at_the_line_of_the_test(
    session: pytest.Pytester, tmp_path: Path
) -> None:
    session.makepyfile(WRONG)
    done = session.runpytest("--tb=short")
    done.assert_outcomes(failed=6)
    told = done.stdout.str()
    for part in (
        "needs a limit",
        "below=-1: give a number above 0",
        "processes=2: give 5 or more",
        "caches='hot': give 'empty' or 'filled'",
        "none.json: no such file",
        "takes the name of a function, not a builtin_function_or_method",
    ):
        assert part in told
    assert "starts.py" not in told
