"""Names that nobody has, plug-ins that cannot be loaded, and numbers that make no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faults import lab

if TYPE_CHECKING:
    from tests.faults.lab import Lab


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--case", "numpy_smal_8_f32"), "no case is called 'numpy_smal_8_f32'; did you mean"),
        (("--backend", "numpi"), "no backend is called 'numpi'; did you mean numpy"),
        (
            ("--cache-mode", "cold"),
            "no cache mode is called 'cold'; did you mean cold_process_cold_cache or ",
        ),
        (("--case", "foo"), "no case is called 'foo'; `coldwarm cases` lists them"),
        (("--suite", "quik"), "no suite is called 'quik'; did you mean quick?"),
        (("--backend", "numba", "--case", "small_8_f32"), "these options leave nothing to run"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(
    bench: Lab, arguments: tuple[str, ...], said: str
) -> None:
    done = bench.run(*arguments)
    assert done.code == 2
    assert said in done.one_line()
    assert not bench.out.exists(), "nothing is made before the options are understood"


def test_an_unknown_command(bench: Lab) -> None:
    done = bench.command("rnu")
    assert done.code == 2
    assert "no command is called 'rnu'; did you mean run?" in done.one_line()


@pytest.mark.parametrize(("option", "text"), [("--time-budget", "soon"), ("--timeout", "1e999")])
def test_a_duration_that_is_none(bench: Lab, option: str, text: str) -> None:
    done = bench.run(option, text)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert option in done.err
    assert "write 90, 90s, 2.5m or 1h" in " ".join(done.err.replace("│", " ").split())
    assert not bench.out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--precision", "0"),
        ("--precision", "nan"),
        ("--rounds", "5", "--max-rounds", "2"),
    ],
)
def test_a_number_that_makes_no_sense(bench: Lab, arguments: tuple[str, ...]) -> None:
    done = bench.run(*arguments)
    assert done.code == 2
    assert arguments[0] in done.err
    assert not bench.out.exists()


def test_where_nothing_can_be_measured_that_is_said(bench: Lab) -> None:
    done = bench.run("--backend", "no_such_module", "--case", "small_8_f32")
    assert done.code == 4, done.err
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("coldwarm: nothing was measured: ")
    assert "a_module_that_nobody_has" in last


def plug(bench: Lab, group: str, name: str, value: str) -> None:
    site = lab.install(bench.path / "more", "more_faults", {group: {name: value}})
    bench.sites.append(site)


@pytest.mark.parametrize(
    ("group", "name", "value", "said"),
    [
        (
            "coldwarm.backends",
            "broken",
            "broken_plugin:Broken",
            "cannot be loaded: ImportError: on purpose; mend it, or uninstall more_faults",
        ),
        (
            "coldwarm.backends",
            "absent",
            "a_module_that_nobody_has:Backend",
            "(a_module_that_nobody_has:Backend, from more_faults) cannot be loaded: ",
        ),
        ("coldwarm.backends", "numpy", "faulty_backend:Honest", "calls itself 'honest'"),
        ("coldwarm.backends", "honest", "faulty_backend:Honest", "two backends are called"),
        ("coldwarm.workloads", "small", "faulty_workload", "two workloads are called 'small'"),
        ("coldwarm.workloads", "nameless", "faulty_backend", "has no NAME"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_named(
    bench: Lab, group: str, name: str, value: str, said: str
) -> None:
    plug(bench, group, name, value)
    done = bench.run("--backend", "numpy")
    assert done.code == 2
    assert said in done.one_line()
    assert not bench.out.exists()
