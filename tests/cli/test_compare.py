"""``coldwarm compare``: what it prints, what it refuses, and the code it ends with."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples
from tests.stats import results
from tests.stats.test_runs import report

from coldwarm.cli import main
from coldwarm.contracts.codec import decode_as, encode
from coldwarm.contracts.comparison import RunComparison
from coldwarm.contracts.environment import Cpu, Frequency
from coldwarm.contracts.reasons import because
from coldwarm.contracts.sweep import FILE, SweepRequest
from coldwarm.report import github

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "numpy_matmul_512_f32"


@pytest.fixture
def a(tmp_path: Path) -> Path:
    """A run of two cases."""
    return results.write(tmp_path / "a", [results.case(1), results.case(2, case=OTHER)])


@pytest.fixture
def b(tmp_path: Path) -> Path:
    """The same again, with one case that takes half as long again."""
    return results.write(tmp_path / "b", [results.case(3, 1.5), results.case(4, case=OTHER)])


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command as the program does."""
    monkeypatch.setenv("COLUMNS", "80")
    return Call(monkeypatch, capsys)


class Call:
    """``coldwarm compare`` with arguments: its exit code and what it printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """Keep what is needed to call it."""
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        self.monkeypatch.setattr(sys, "argv", ["coldwarm", "compare", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = self.capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err


def test_the_real_command_ends_with_1_on_a_regression(a: Path, b: Path) -> None:
    line = [sys.executable, "-m", "coldwarm", "compare", str(a), str(b), "--fail-on", "slower:5%"]
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "FAIL: 3 figures beyond the limit." in done.stdout
    assert done.stderr == ""


def test_two_sweeps_are_compared_at_the_sizes_that_both_have(tmp_path: Path, call: Call) -> None:
    def swept(name: str, sizes: dict[int, float], first: int) -> Path:
        asked = SweepRequest(name="n", low=10, high=1000, goal=0.2, asked={}, identity="0" * 64)
        for place, (size, factor) in enumerate(sizes.items()):
            results.write(
                tmp_path / name / f"n={size}-{first}", [results.case(first + place, factor)]
            )
        (tmp_path / name / FILE).write_bytes(encode(asked))
        return tmp_path / name

    before = swept("before", {10: 1.0, 100: 1.0}, 1)
    after = swept("after", {10: 1.0, 100: 1.5, 1000: 1.0}, 7)
    code, said, _ = call(before, after, "--fail-on", "slower:30%", "--verbose")
    assert code == 1
    assert "n=10\n" in said
    assert "n=1000" in said
    assert "slower, FAIL" in said.partition("n=100\n")[2]
    assert "slower, FAIL" not in said.partition("n=100\n")[0]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--fail-on", "slower:30%"], 1),
        (["--fail-on", "slower"], 1),
        (["--fail-on", "slower:60%"], 0),
        (["--fail-on", "faster:2%,more:2%,less:2%"], 0),
        (["--fail-on", "faster:2%", "--fail-on", "slower:5%"], 1),
        (["--threshold", "80%", "--fail-on", "slower:5%"], 0),
        (["--threshold", "cold:80%,warm:80%", "--fail-on", "slower:5%"], 0),
        (["--threshold", "cold:80%", "--fail-on", "slower:5%"], 1),
    ],
)
def test_limits_decide_between_0_and_1(
    a: Path, b: Path, call: Call, options: list[str], code: int
) -> None:
    assert call(a, b, *options)[0] == code


def test_exchanged_it_is_faster(a: Path, b: Path, call: Call) -> None:
    code, out, _ = call(b, a, "--fail-on", "faster:30%")
    assert code == 1
    assert "3 faster, 5 same, 0 undecided." in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--fail-on", "slow:5%"], "'slow' is no verdict that can fail"),
        (["--fail-on", "slower:5"], "'5' is no relative difference"),
        (["--fail-on", "slower:5%,slower:6%"], "slower is given twice"),
        (["--threshold", "hot:5%"], "'hot' is no kind of figure"),
        (["--threshold", "0%"], "'0%' is no relative difference"),
        (["--allow", "machin"], "did you mean machine"),
        (["--policy", "no-such.toml"], "no-such.toml: cannot be read"),
        (["--format", "yaml"], "yaml"),
    ],
)
def test_options_that_make_no_sense_end_with_2(
    a: Path, b: Path, call: Call, options: list[str], told: str
) -> None:
    code, out, err = call(a, b, *options)
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())


def test_a_policy_decides_by_case_and_metric(a: Path, b: Path, call: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\ncases = "jax_*"\nmetrics = "warm.*"\nfail_on.slower = "10%"\n')
    code, out, _ = call(a, b, "--policy", policy)
    assert code == 1
    assert "FAIL: 1 figure beyond the limit." in out
    policy.write_text('[[rule]]\ncases = "torch_*"\nthreshold = "1%"\n')
    code, _, err = call(a, b, "--policy", policy)
    assert code == 2
    assert f"{policy}:2: cases: the pattern 'torch_*' matches no compared case" in err


def test_refusals_end_with_2_and_allowing_lifts_them(a: Path, tmp_path: Path, call: Call) -> None:
    cpu = Cpu(model="B CPU", architecture="x86_64", frequency=Frequency())
    changed = results.case(3, protocol_workload_sha256="1" * 64)
    failed = results.case(4, case=OTHER, status="failed", reason=because("correctness_gate"))
    b = results.write(tmp_path / "c", [changed, failed], samples.environment(cpu=cpu))
    code, out, err = call(a, b)
    assert (code, out) == (2, "")
    assert "workload: workload_sha256" in err
    assert 'machine: cpu.model: "A CPU" became "B CPU"' in err
    assert "failed: in B: its answer is wrong" in err
    assert "--allow failed,workload,machine leaves failed cases out" in err
    code, out, err = call(a, b, "--allow", "workload,machine", "--allow", "failed")
    assert (code, err) == (0, "")
    told = " ".join(out.split())
    assert "allowed workload: workload_sha256" in told
    assert f"its answer is wrong in B: {OTHER}" in told


def test_options_that_say_nothing_are_refused(a: Path, b: Path, call: Call) -> None:
    """As where a script's variable is not set."""
    for arguments in (("--fail-on", ""), ("--threshold", ""), ("--fail-on", "slower:1%,")):
        code, out, err = call(a, b, *arguments)
        assert (code, out) == (2, "")
        assert "is empty" in err
    code, _, err = call(a, b, "--threshold", "warm:3%,warm:90%")
    assert code == 2
    assert "given twice" in err


def test_another_environment_than_the_indexed_one_is_no_result(
    a: Path, b: Path, call: Call
) -> None:
    (b / "environment.json").write_text((b / "environment.json").read_text() + "\n")
    code, _, err = call(a, b)
    assert code == 3
    assert "environment_sha256" in err
    assert "it was changed after it was written" in err


def test_other_inputs_are_told_beside_another_source(a: Path, tmp_path: Path, call: Call) -> None:
    changed = results.case(3, protocol_workload_sha256="1" * 64, dataset_sha256="2" * 64)
    b = results.write(tmp_path / "c", [changed])
    code, _, err = call(a, b)
    assert code == 2
    assert "workload: workload_sha256" in err
    assert "dataset: dataset_sha256" in err
    assert call(a, b, "--allow", "workload")[0] == 2
    assert call(a, b, "--allow", "workload,dataset")[0] == 0


def test_a_case_that_failed_on_both_sides_is_told(tmp_path: Path, call: Call) -> None:
    cases = [
        results.case(3),
        results.case(4, case=OTHER, status="failed", reason=because("correctness_gate")),
    ]
    a, b = (results.write(tmp_path / name, cases) for name in ("one", "two"))
    code, out, _ = call(a, b, "--allow", "failed")
    assert code == 0
    assert f"its answer is wrong in both: {OTHER}" in " ".join(out.split())


def test_a_missing_path_ends_with_2(a: Path, tmp_path: Path, call: Call) -> None:
    assert call(a, tmp_path / "none")[0] == 2
    assert "holds no suite.json" in call(a, tmp_path)[2]
    assert "holds no cases (Environment)" in call(a, a / "environment.json")[2]


def test_a_newer_schema_and_a_broken_artifact_end_with_3(a: Path, b: Path, call: Call) -> None:
    file = b / "cases" / f"{OTHER}.json"
    file.write_text(file.read_text().replace("case_result.v2", "case_result.v3"))
    code, _, err = call(a, file)
    assert code == 3
    assert "coldwarm.case_result.v3 is newer than v2" in err
    assert "install a newer coldwarm" in err
    code, _, err = call(a, b)
    assert code == 3
    assert "it was changed after it was written" in err


def test_nothing_in_common_ends_with_4(a: Path, tmp_path: Path, call: Call) -> None:
    double = results.case(3, case="jax_jit_cpu_matmul_512_f64", dtype="f64")
    code, _, err = call(a, results.write(tmp_path / "c", [double]))
    assert code == 4
    assert "dtype: A has f32, B has f64" in err


def test_single_cases_of_runs_know_their_machine(a: Path, b: Path, call: Call) -> None:
    file = f"cases/{results.NAME}.json"
    code, out, _ = call(a / file, b / file)
    assert code == 0
    assert "4 figures of 1 case: 3 slower, 1 same, 0 undecided." in out
    assert call(a, b / "suite.json")[0] == 0


def test_only_differences_are_shown_unless_all_are_asked_for(a: Path, b: Path, call: Call) -> None:
    _, some, _ = call(a, b)
    _, everything, _ = call(a, b, "--verbose")
    assert OTHER not in some
    assert "peak memory" not in some
    assert OTHER in everything
    assert "peak memory, empty" in everything
    for line in (*some.splitlines(), *everything.splitlines()):
        assert len(line) <= 80
    assert some.splitlines()[-1].endswith("3 slower, 5 same, 0 undecided. --verbose shows all.")
    assert "share no rounds" in " ".join(some.split())


def test_json_is_a_record_of_its_own(a: Path, b: Path, call: Call) -> None:
    code, out, _ = call(a, b, "--format", "json", "--fail-on", "slower:5%")
    assert code == 1
    made = decode_as(RunComparison, out.encode())
    assert made.n_failing == 3
    assert len(made.metrics) == 8
    failing = [item for item in made.metrics if item.fails_beyond is not None]
    assert {item.fails_beyond for item in failing} == {0.05}
    assert json.loads(out)["a"]["run_id"] == "a"


def test_markdown_holds_the_same(a: Path, b: Path, call: Call) -> None:
    out = call(a, b, "--format", "markdown")[1]
    assert f"| {results.NAME} |" in out
    assert "| warm call | " in out
    assert "**8 figures of 2 cases: 3 slower, 5 same, 0 undecided. --verbose shows all.**" in out


def test_github_annotates_what_is_worse(a: Path, b: Path, call: Call) -> None:
    lines = call(a, b, "--format", "github")[1].splitlines()
    file = b / "cases" / f"{results.NAME}.json"
    expected = f"::warning file={file},title={results.NAME}%3A warm call slower::"
    assert [line for line in lines if line.startswith(expected)]
    failing = call(a, b, "--format", "github", "--fail-on", "slower:5%")[1].splitlines()
    errors = [line for line in failing if line.startswith("::error ")]
    assert len(errors) == 3
    assert all(line.endswith("; the limit is 5 %25") for line in errors)
    faster = call(b, a, "--format", "github")[1].splitlines()
    assert {line.split()[0] for line in faster} == {"::notice"}
    assert lines[-1].startswith("::notice title=coldwarm compare::8 figures of 2 cases")


def test_nothing_in_an_annotation_ends_it_early() -> None:
    made = github.annotation("error", "a:b,c\n50%", "x\r\n::error::50%, y", "p,q:r%.json")
    assert made == (
        "::error file=p%2Cq%3Ar%25.json,title=a%3Ab%2Cc%0A50%25::x%0D%0A::error::50%25, y"
    )
    assert "\n" not in made


def test_an_incomplete_run_is_told(a: Path, b: Path, call: Call) -> None:
    cases = [results.case(3, 1.5), results.case(4, case=OTHER)]
    results.write(b, cases, complete=False)
    assert "B is incomplete" in call(a, b)[1]


def test_a_run_and_itself_are_told_in_one_line(a: Path, b: Path, call: Call) -> None:
    for line in ((a, a), (f"{a},{b}", a), (a / "suite.json", a)):
        code, out, err = call(*line)
        assert (code, out) == (4, "")
        assert "are one run" in err
        assert len(err.splitlines()) == 1
    case = a / "cases" / f"{OTHER}.json"
    assert call(case, case)[0] == 4


def test_several_runs_a_side_are_the_unit(tmp_path: Path, call: Call) -> None:
    sides = [
        [
            results.write(tmp_path / f"{side}{n}", [results.case(7 * n + len(side), speed)])
            for n in range(3)
        ]
        for side, speed in (("old", 1.0), ("newer", 1.5))
    ]
    given = [",".join(map(str, side)) for side in sides]
    code, out, _ = call(*given, "--fail-on", "slower:10%")
    assert code == 1
    told = " ".join(out.split())
    assert "FAIL: 3 figures beyond the limit." in told
    assert all(f"{label}{n} " in told for label in "AB" for n in (1, 2, 3))
    assert "geometric means of runs" in told
    assert "share no rounds" not in told
    code, out, _ = call(*given, "--json")
    made = decode_as(RunComparison, out.encode(), "printed")
    assert isinstance(made, RunComparison)
    assert (made.unit, len(made.a_runs), {item.n_a for item in made.metrics}) == ("run", 3, {3})


def test_a_run_of_another_machine_is_named_with_its_number(
    a: Path, b: Path, tmp_path: Path, call: Call
) -> None:
    cpu = Cpu(model="B CPU", architecture="x86_64", frequency=Frequency())
    c = results.write(tmp_path / "c", [results.case(5)], samples.environment(cpu=cpu))
    odd = results.write(tmp_path / "d", [results.case(5, protocol_threads=1)])
    code, _, err = call(f"{a},{c}", f"{b},{odd}")
    assert code == 2
    assert "threads: A1 has none, B2 has 1" in err
    assert 'machine: cpu.model: "A CPU" became "B CPU"' in err


def test_the_text_says_whether_the_noise_of_the_machine_is_known(
    a: Path, b: Path, tmp_path: Path, call: Call
) -> None:
    told = " ".join(call(a, b)[1].split())
    assert "no noise report of this machine is known for cold, warm figures" in told
    (tmp_path / "noise-1").mkdir()
    kept = tmp_path / "noise-1" / "noise.json"
    kept.write_bytes(encode(report([1.0, 1.1, 0.95, 1.08])))
    for options in ((), ("--noise", kept)):
        code, out, _ = call(a, b, *options, "--fail-on", "slower:5%")
        told = " ".join(out.split())
        assert (
            "two equal runs of this machine stay within it, by 1 report of coldwarm noise" in told
        )
        assert "known for cold figures" in told
        assert f"too coarse {OTHER}, warm call:" in told
        assert "could pass unseen, the limit is 5 %" in told
        assert code == 1, "the starts fail all the same"


@pytest.mark.parametrize(
    ("limit", "code"), [("undecided", 1), ("undecided:1%", 1), ("undecided:400%", 0), ("slower", 0)]
)
def test_undecided_can_fail_a_build(tmp_path: Path, call: Call, limit: str, code: int) -> None:
    a, b = (
        results.write(tmp_path / name, [results.case(seed, n=7, scatter=0.2)])
        for name, seed in (("a", 1), ("b", 2))
    )
    done = call(a, b, "--fail-on", limit)
    assert done[0] == code, done
    assert ("undecided!" in done[1]) is bool(code)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'[fail_on]\n{limit.partition(":")[0]} = "{limit.partition(":")[2] or "0%"}"\n'
    )
    assert call(a, b, "--policy", policy)[0] == code


def test_a_limit_that_the_runs_could_not_show_says_what_it_takes(
    tmp_path: Path, call: Call
) -> None:
    a, b = (
        results.write(tmp_path / name, [results.case(seed, n=7, scatter=0.2)])
        for name, seed in (("a", 1), ("b", 2))
    )
    told = " ".join(call(a, b, "--fail-on", "slower:10%")[1].split())
    assert "could pass unseen, the limit is 10 %; about " in told
    assert " more processes of A and of B" in told
