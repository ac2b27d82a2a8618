"""Whatever is changed in a stored result, its hashes made again: no command believes it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.lab import GOOD, Lab, install

from coldwarm.contracts import codec
from coldwarm.contracts.base import Record
from coldwarm.errors import ContractError
from coldwarm.runner import recompute
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from collections.abc import Callable

    Case = dict[str, Any]
    Change = Callable[[Case], object]

OTHER = "honest_small_8_f32"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """Return a run of two candidates in three modes."""
    made = Lab(tmp_path_factory.mktemp("original"), [site])
    asked = ("--backend", "numpy,honest", "--rounds", "3", "--max-rounds", "3")
    done = made.run(*asked, "--deterministic")
    assert done.code == 0, done.err
    assert made.command("validate", made.out).code == 0
    return made.out


@pytest.fixture
def copy(bench: Lab, original: Path) -> Lab:
    """Return a laboratory with a copy of that run."""
    shutil.copytree(original, bench.out)
    return bench


def change(folder: Path, name: str, how: Change) -> None:
    """Change the file of a case, and make all hashes of the run again."""
    file = folder / f"cases/{name}.json"
    case = json.loads(file.read_bytes())
    how(case)
    file.write_text(json.dumps(case, indent=2))
    rehash(folder)


def rehash(folder: Path, how: Change | None = None) -> None:
    """Make the hashes of an index again, after changing it."""
    index = folder / "suite.json"
    suite = json.loads(index.read_bytes())
    for row in suite["cases"]:
        data = (folder / row["path"]).read_bytes()
        row["sha256"] = hashlib.sha256(data).hexdigest()
        row["status"] = json.loads(data)["status"]
        row["reason"] = json.loads(data)["reason"]
    suite["answers_sha256"] = hashlib.sha256((folder / "answers.json").read_bytes()).hexdigest()
    for status in ("ok", "warn", "failed"):
        suite[f"n_{status}"] = sum(row["status"] == status for row in suite["cases"])
    if how is not None:
        how(suite)
    index.write_text(json.dumps(suite, indent=2))


def refused(copy: Lab) -> str:
    """Return the lines of ``validate``; by one of them, every command refuses the run."""
    lines = [finding.fault for finding in validated(copy.out) if finding.fault]
    with pytest.raises(ContractError) as error:
        recompute.read_run(copy.out)
    assert str(error.value) in lines
    return "\n".join(lines)


def _cold(case: Case, number: int = 0) -> Case:
    found: Case = case["cold"][number]["seconds"]["ttfr"]
    return found


def _seen(case: Case, number: int = 0) -> Case:
    found: Case = case["observations"][number]
    return found


def _block(case: Case) -> Case:
    found: Case = next(one for one in case["observations"] if one["blocks"])["blocks"][-1]
    return found


def _all_faster(case: Case) -> None:
    for summary in case["cold"]:
        for one in summary["seconds"].values():
            one.update(dict.fromkeys(("median", "minimum", "maximum", "low", "high"), 1e-9))


CHANGES: dict[str, tuple[Change, str]] = {
    "median": (lambda c: _cold(c).update(median=1e-9), "cold[0].seconds.ttfr.median"),
    "all figures": (_all_faster, "cold[0].seconds"),
    "warm median": (lambda c: c["warm"]["call_s"].update(median=1e-9), "warm.call_s.median"),
    "low > high": (
        lambda c: _cold(c).update(low=_cold(c)["high"], high=_cold(c)["low"]),
        "cold[0].seconds.ttfr",
    ),
    "narrow": (
        lambda c: _cold(c).update(low=_cold(c)["median"], high=_cold(c)["median"]),
        "cold[0].seconds.ttfr.high",
    ),
    "more processes": (lambda c: c["cold"][0].update(n_ok=300), "cold[0].n_ok"),
    "precision": (lambda c: c["cold"][0].update(precision_reached=0.001), "precision_reached"),
    "memory": (lambda c: c["cold"][0]["peak_rss_bytes"].update(median=1.0), "peak_rss_bytes"),
    "steady": (lambda c: c["warm"]["steady"].update(n_steady=99), "warm.steady.n_steady"),
    "no summaries": (lambda c: c.update(cold=[], warm=None), "cold: says"),
    "no cautions": (lambda c: c.update(warnings=[]), "warnings: says"),
    "one caution less": (lambda c: c["warnings"].pop(), "warnings: says"),
    "size": (lambda c: c.update(size=-1), "size: expected int >= 1"),
    "another size": (lambda c: c.update(size=9), "protocol.size: says 8"),
    "empty samples": (lambda c: _block(c).update(samples_s=[]), "samples_s: is empty"),
    "a sample of 0": (lambda c: _block(c)["samples_s"].__setitem__(0, 0.0), "a call takes time"),
    "a sample below 0": (lambda c: _block(c)["samples_s"].__setitem__(0, -1.0), "float >= 0.0"),
    "a huge sample": (lambda c: _block(c)["samples_s"].__setitem__(0, 1e308), "float <= "),
    "longer than its block": (
        lambda c: _block(c)["samples_s"].__setitem__(0, 1e3),
        "wall_s: is ",
    ),
    "turns of one side alone": (
        lambda c: _seen(c).update(shared_calls=[{"other": OTHER, "own_s": [1e-6], "other_s": []}]),
        "has 1 calls of one side and 0 of the other",
    ),
    "a turn of 0": (
        lambda c: _seen(c).update(shared_calls=[{"other": OTHER, "own_s": [0.0], "other_s": [1]}]),
        "has a call of 0 s",
    ),
    "turns longer than the process": (
        lambda c: _seen(c).update(
            shared_calls=[{"other": OTHER, "own_s": [1e3], "other_s": [1e3]}]
        ),
        "took 2000 s, and the process ",
    ),
    "another case inside": (lambda c: _seen(c).update(case=OTHER), f"is of '{OTHER}'"),
    "twice": (lambda c: c["observations"].append(_seen(c)), "once more"),
    "a hundred times": (lambda c: c.update(observations=c["observations"] * 100), "once more"),
    "once more as another attempt": (
        lambda c: c["observations"].append({**_seen(c), "attempt": 7}),
        "the place of another process",
    ),
    "one less": (lambda c: c["observations"].pop(), "says 3, but its observations say 2"),
    "ttfr": (lambda c: _seen(c).update(ttfr_s=1e-6), "observations[0].ttfr_s: says 1e-06"),
    "a phase": (lambda c: _seen(c)["phases"][1].update(duration_s=1e-6), "observations[0].ttfr_s"),
    "phases in each other": (
        lambda c: _seen(c)["phases"][3].update(start_s=0.0),
        "phases[3].start_s: lies in the phase before it",
    ),
    "a phase twice": (
        lambda c: _seen(c)["phases"].append(_seen(c)["phases"][1]),
        "for a second time",
    ),
    "parts beyond the whole": (
        lambda c: _seen(c)["first_call_parts"].update(rest_s=9.0),
        "first_call_parts: add up to 9 s",
    ),
    "wall clock": (lambda c: _seen(c).update(wall_s=1e-3), "wall_s: is 0.001 s"),
    "rejected": (
        lambda c: _seen(c).update(status="rejected", reason={"code": "unstated"}),
        "observations[0]",
    ),
    "judged otherwise": (
        lambda c: _seen(c)["judgements"]["cold_process_cold_cache"].update(proved=False),
        "judgements.cold_process_cold_cache.proved",
    ),
    "compiled in a block": (lambda c: _block(c).update(compiles=3), "observations["),
    "wrong answer": (lambda c: _seen(c)["gate"].update(passed=False), "its answer was wrong"),
    "beyond the tolerance": (
        lambda c: _seen(c)["gate"].update(max_relative_error=1.0),
        "above the tolerance",
    ),
    "status": (
        lambda c: c.update(status="warn", reason={"code": "unstated"}),
        "status: says 'warn'",
    ),
    "no baseline": (lambda c: c.update(baseline=not c["baseline"]), "comparisons"),
    "another seed": (lambda c: c["protocol"].update(seed=1), "seed"),
    "noise hidden": (
        lambda c: _seen(c)["telemetry"].update(steal_share=0.5, flags=[]),
        "do not say steal",
    ),
    "noise invented": (
        lambda c: _seen(c)["telemetry"].update(
            flags=[{"code": "steal", "values": {"steal_share": 0.9}}]
        ),
        "say steal of 0.9",
    ),
    "filled by a command": (
        lambda c: c.update(filled_by=[{"owner": "jax", "variables": {"A": "x"}}]),
        "filled_by: says",
    ),
    "no name of a variable": (
        lambda c: c.update(filled_by=[{"owner": "jax", "variables": {"A=1; rm x": "x"}}]),
        "filled_by[0].variables",
    ),
    "no limits": (lambda c: c.update(limitations=[]), "limitations: are none"),
    "another limit": (
        lambda c: c["limitations"].insert(0, {"code": "own_memo"}),
        "limitations: are own_memo",
    ),
    "inspected": (lambda c: c.update(inspected_call_s=1.0), "inspected_call_s: is of no function"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_case_with_new_hashes_is_refused_where_it_was_changed(copy: Lab, name: str) -> None:
    how, line = CHANGES[name]
    change(copy.out, GOOD, how)
    assert line in refused(copy)


@pytest.mark.slow
def test_every_command_refuses_by_the_same_line(copy: Lab) -> None:
    change(copy.out, GOOD, CHANGES["median"][0])
    done = copy.command("validate", copy.out)
    assert done.code == 3
    line, *_ = [line for line in done.out.splitlines() if ": OK " not in line]
    file = copy.out / f"cases/{GOOD}.json"
    commands: list[tuple[str | Path, ...]] = [
        ("show", copy.out),
        ("plan", copy.out, "--calls", "10"),
        ("compare", copy.out, _as_another_run(copy.out)),
        ("compare", file, file),
        ("run", "--out", copy.out, "--resume"),
    ]
    for arguments in commands:
        done = copy.command(*arguments)
        assert (done.code, done.err.strip()) == (3, f"coldwarm: {line}")


def test_samples_that_differ_from_the_journal_are_found(copy: Lab) -> None:
    def slower_and_consistent(case: Case) -> None:
        block = _block(case)
        block["samples_s"] = block["samples_s"][::-1]

    change(copy.out, OTHER, slower_and_consistent)
    lines = "\n".join(finding.fault for finding in validated(copy.out) if finding.fault)
    assert f"{OTHER}.json" in lines


def test_a_published_figure_that_the_case_does_not_make_is_found(copy: Lab) -> None:
    file = copy.out / f"nextstat/{GOOD}.json"
    result = json.loads(file.read_bytes())
    result["timing"]["cold"]["ttfr_s"]["median"] = 1e-9
    file.write_text(json.dumps(result))
    index = copy.out / "nextstat/ml_suite.json"
    suite = json.loads(index.read_bytes())
    for row in suite["cases"]:
        row["sha256"] = hashlib.sha256((index.parent / row["path"]).read_bytes()).hexdigest()
    index.write_text(json.dumps(suite))
    lines = [finding.fault for finding in validated(copy.out) if finding.fault]
    assert ["timing.cold.ttfr_s.median: says 1e-09" in line for line in lines] == [True]


def _of_another_version(folder: Path, how: Change) -> None:
    def changed(case: Case) -> None:
        case["protocol"]["harness_sha256"] = "0" * 64
        how(case)

    for name in (GOOD, OTHER):
        change(folder, name, changed if name == GOOD else _elsewhere)


def _elsewhere(case: Case) -> None:
    case["protocol"]["harness_sha256"] = "0" * 64


@pytest.mark.parametrize("name", ["ttfr", "ttfr_process", "start"])
def test_a_derived_figure_of_another_version_is_one_that_its_processes_can_make(
    copy: Lab, name: str
) -> None:
    def of(value: float | None) -> Change:
        def how(case: Case) -> None:
            one = case["cold"][0]["seconds"][name]
            points = ("median", "minimum", "maximum", "low", "high")
            one.update(dict.fromkeys(points, value) if value else {})

        return how

    _of_another_version(copy.out, of(None))
    assert [one.fault for one in validated(copy.out) if one.fault] == []
    _of_another_version(copy.out, of(1e6))
    assert f"cold[0].seconds.{name}.minimum: says 1e+06" in refused(copy)


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (lambda r: r["timing"]["cold"].update(n_runs=9), "timing.cold.n_runs: says 9"),
        (lambda r: r["timing"]["warm"].update(n_iters=9), "timing.warm.n_iters: says 9"),
        (lambda r: r["config"].update(cold_runs=9), "config.cold_runs: says 9"),
        (lambda r: r["config"].update(warm_iters=9), "config.warm_iters: says 9"),
        (lambda r: r["timing"]["cold"]["ttfr_s"].update(p95=0.0), "timing.cold.ttfr_s.p95: says 0"),
        (lambda r: r["timing"]["cold"]["total_s"].update(min=1e-9), "total_s.min: says 1e-09"),
    ],
)
def test_a_published_summary_is_of_the_numbers_listed_whatever_version_wrote_it(
    copy: Lab, how: Change, line: str
) -> None:
    _of_another_version(copy.out, lambda case: None)
    file = copy.out / f"nextstat/{GOOD}.json"
    result = json.loads(file.read_bytes())
    how(result)
    file.write_text(json.dumps(result))
    index = copy.out / "nextstat/ml_suite.json"
    suite = json.loads(index.read_bytes())
    for row in suite["cases"]:
        row["sha256"] = hashlib.sha256((index.parent / row["path"]).read_bytes()).hexdigest()
    index.write_text(json.dumps(suite))
    lines = [finding.fault for finding in validated(copy.out) if finding.fault]
    assert len(lines) == 1
    assert line in lines[0]


def test_a_line_of_a_later_version_in_the_journal_is_a_finding(copy: Lab) -> None:
    file = copy.out / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if b'"observation"' in line)
    newer = re.sub(rb"(coldwarm\.observation)\.v\d+", rb"\1.v99", lines[number])
    record = re.search(rb'"record":(.*)\}\n', newer)
    assert record is not None
    crc = b"%08x" % zlib.crc32(record[1])
    lines[number] = re.sub(rb'"crc32":"\w+"', b'"crc32":"%s"' % crc, newer, count=1)
    file.write_bytes(b"".join(lines))
    faults = [finding.fault for finding in validated(copy.out) if finding.fault]
    assert len(faults) == 1
    assert "is newer than" in faults[0]


def test_a_user_with_the_name_of_a_word_of_ours_reads_his_own_run(
    copy: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("block", "round", "json", "coldwarm", "numpy", "process"):
        monkeypatch.setenv("USER", name)
        answers = copy.out / "answers.json"
        for file in [*copy.out.glob("cases/*.json"), answers, copy.out / "suite.json"]:
            file.write_bytes(codec.encode(codec.load_as(Record, file)))
        rehash(copy.out)
        assert [one.fault for one in validated(copy.out) if one.fault] == []


def test_a_verdict_that_was_changed_is_found(copy: Lab, original: Path) -> None:
    case = json.loads((original / f"cases/{OTHER}.json").read_bytes())
    assert case["comparisons"]
    for name, value in (("verdict", "slower"), ("ratio", 3.0), ("low", 2.9), ("metric", "x")):
        other = {name: value}
        change(copy.out, OTHER, lambda case, to=other: case["comparisons"][0].update(to))  # type: ignore[misc]
        assert f"comparisons[0].{name}: says " in refused(copy)
        shutil.copy(original / f"cases/{OTHER}.json", copy.out / f"cases/{OTHER}.json")


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (lambda s: s["order"].reverse(), "order: says"),
        (lambda s: s.update(order=[]), "order: says 'nothing' at place"),
        (lambda s: s.update(seed=5), "seed: says 5"),
        (lambda s: s.update(complete=False), "complete: says False"),
    ],
)
def test_an_index_that_its_cases_contradict_is_refused(copy: Lab, how: Change, line: str) -> None:
    rehash(copy.out, how)
    assert line in refused(copy)


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (lambda a: a["leads"][0].update(fastest="honest"), "leads[0].fastest: says "),
        (lambda a: a["by_calls"][0]["ranges"][0].update(to_calls=7), "ranges[0].to_calls: says 7"),
        (lambda a: a["by_calls"][1].update(confidence=0.99), "confidence: says 0.99"),
        (lambda a: a.update(n_rounds=30), "answers[0].n_rounds: says 30"),
        (lambda a: a.update(provenance="replicated"), "answers[0].provenance: says 'replicated'"),
        (lambda a: a["not_steady"].update(numpy={"code": "unstated"}), "not_steady"),
    ],
)
def test_an_answer_that_does_not_follow_from_the_cases_is_refused(
    copy: Lab, how: Change, line: str
) -> None:
    file = copy.out / "answers.json"
    said = json.loads(file.read_bytes())
    how(said["answers"][0])
    file.write_text(json.dumps(said, indent=2))
    rehash(copy.out)
    found = refused(copy)
    assert line in found
    assert "answers.json" in found


def test_answers_are_not_left_out_and_are_those_of_the_run(copy: Lab) -> None:
    rehash(copy.out, lambda suite: suite.update(answers_path=None, answers_sha256=None))
    assert "answers_path: is missing, and this version writes its answers" in refused(copy)
    file = copy.out / "answers.json"
    file.write_text(file.read_text().replace('"run_id": "', '"run_id": "0', 1))
    rehash(copy.out, lambda suite: suite.update(answers_path="answers.json"))
    assert "run_id: says " in refused(copy)


def test_another_version_is_read_and_shown_as_computed_today(copy: Lab, original: Path) -> None:
    """What an earlier version computed otherwise is not a fault, and not shown either."""

    def as_before(case: Case) -> None:
        case["protocol"]["harness_sha256"] = "0" * 64
        for name in ("caches", "compiles"):
            del case["protocol"][name]
        del case["protocol"]["effort"]["decide"]
        case["warnings"] = []
        case["warm"]["steady"]["n_steady"] = 99
        _cold(case).update(low=_cold(case)["median"], high=_cold(case)["median"])

    for name in (GOOD, OTHER):
        change(copy.out, name, as_before)
    assert [finding.fault for finding in validated(copy.out) if finding.fault] == []
    ours, theirs = recompute.read(copy.out).cases, recompute.read(original).cases
    for name in (GOOD, OTHER):
        for field in ("cold", "warm", "comparisons", "warnings", "observations"):
            assert getattr(ours[name], field) == getattr(theirs[name], field)
    change(copy.out, GOOD, CHANGES["median"][0])
    assert CHANGES["median"][1] in refused(copy)


def _as_another_version(folder: Path) -> None:
    """Turn a verdict round, hide cautions, and say that another version measured all of it."""

    def turned(case: Case) -> None:
        case["protocol"]["harness_sha256"] = "0" * 64
        case["warnings"] = []
        for one in case["comparisons"]:
            one["verdict"] = "faster" if one["verdict"] != "faster" else "slower"

    for name in (GOOD, OTHER):
        change(folder, name, turned)


def _as_another_run(run: Path) -> Path:
    """Return a copy of a run that says that it is another one."""
    other = run.with_name("other")
    shutil.copytree(run, other)
    file = other / "answers.json"
    answers = json.loads(file.read_bytes()) | {"run_id": other.name}
    file.write_text(json.dumps(answers, indent=2))
    rehash(other, lambda suite: suite.update(run_id=other.name))
    return other


def test_what_another_version_says_otherwise_is_told_by_every_command(
    copy: Lab, original: Path
) -> None:
    """GIVEN another version is named THEN today's verdicts are shown, and the others are told."""
    _as_another_version(copy.out)
    measured = recompute.read(copy.out)
    assert {one.field for one in measured.otherwise} > {"comparisons[0].verdict", "warnings"}
    assert measured.cases[OTHER].comparisons == recompute.read(original).cases[OTHER].comparisons
    done = copy.command("validate", copy.out)
    assert done.code == 0
    [line] = [
        line for line in done.out.splitlines() if f"{OTHER}.json" in line and "cases/" in line
    ]
    assert ": NOT PROVED coldwarm.case_result.v2: " in line
    done = copy.command("validate", copy.out, "--json")
    rows = [one for one in json.loads(done.out) if "/cases/" in one["path"]]
    told = {Path(one["path"]).name: one["otherwise"] for one in rows}
    assert any("comparisons[0].verdict: says" in one for one in told[f"{OTHER}.json"])
    commands: list[tuple[str | Path, ...]] = [
        ("show", copy.out),
        ("show", copy.out, "--json"),
        ("plan", copy.out, "--calls", "10"),
        ("compare", copy.out, _as_another_run(copy.out)),
        ("report", copy.out, "--format", "markdown"),
        ("export", copy.out, "--format", "pyperf", "--out", copy.path / "exported"),
    ]
    for arguments in commands:
        done = copy.command(*arguments)
        assert "measured by another version of coldwarm, as it says" in done.err, arguments
        assert "differently, and shows its own" in done.err


@pytest.mark.parametrize("numpy", ["0.0.1", "99.0"])
def test_the_version_of_numpy_that_is_named_changes_nothing(copy: Lab, numpy: str) -> None:
    place = copy.out / "environment.json"
    environment = json.loads(place.read_bytes())
    environment["distributions"]["numpy"] = numpy
    place.write_text(json.dumps(environment))
    sha256 = hashlib.sha256(place.read_bytes()).hexdigest()
    for name in (GOOD, OTHER):
        change(copy.out, name, lambda case: case.update(environment_sha256=sha256))
    rehash(copy.out, lambda suite: suite.update(environment_sha256=sha256))
    change(copy.out, OTHER, lambda case: case["comparisons"][0].update(verdict="slower"))
    rehash(copy.out, lambda suite: suite.update(environment_sha256=sha256))
    assert "comparisons[0].verdict: says " in refused(copy)


OF_ANY_VERSION: dict[str, tuple[Change, str]] = {
    "a median": CHANGES["median"],
    "all figures": CHANGES["all figures"],
    "more processes": CHANGES["more processes"],
    "low > high": CHANGES["low > high"],
    "empty samples": CHANGES["empty samples"],
    "a sample of 0": CHANGES["a sample of 0"],
    "another case inside": CHANGES["another case inside"],
    "twice": CHANGES["twice"],
    "one less": CHANGES["one less"],
    "wrong answer": CHANGES["wrong answer"],
    "beyond the tolerance": CHANGES["beyond the tolerance"],
    "longer than its block": CHANGES["longer than its block"],
}


@pytest.mark.parametrize("name", OF_ANY_VERSION)
def test_what_no_version_could_have_said_is_refused_of_each(copy: Lab, name: str) -> None:
    how, line = OF_ANY_VERSION[name]
    _of_another_version(copy.out, how)
    assert line in refused(copy)


OF_SOME_VERSION = (
    *("narrow", "precision", "memory", "steady", "no cautions", "another size", "ttfr", "a phase"),
    *("phases in each other", "parts beyond the whole", "wall clock", "judged otherwise"),
    *("status", "noise hidden", "noise invented", "filled by a command", "no limits", "inspected"),
)


@pytest.mark.parametrize("name", OF_SOME_VERSION)
def test_what_another_version_may_have_said_is_told_and_never_proved(copy: Lab, name: str) -> None:
    _of_another_version(copy.out, CHANGES[name][0])
    found = list(validated(copy.out))
    assert any(one.fault or one.otherwise for one in found)
    if not any(one.fault for one in found):
        assert recompute.read(copy.out).otherwise


def test_what_is_stored_is_what_is_computed_again(original: Path) -> None:
    for name, case in recompute.read(original).cases.items():
        assert codec.encode(case) == (original / f"cases/{name}.json").read_bytes()


def _evidence(case: Case) -> Case:
    found: Case = next(one for one in case["observations"] if one["evidence"])["evidence"][0]
    return found


def _without_evidence(case: Case) -> None:
    for one in case["observations"]:
        one["evidence"] = []


EVIDENCE: dict[str, tuple[Change, str]] = {
    "hits in an empty cache": (lambda c: _evidence(c).update(hits=5, compiles=0), "judgements"),
    "files before": (lambda c: _evidence(c).update(files_before=3), "judgements"),
    "no evidence": (_without_evidence, "evidence: is of none"),
    "another's evidence": (lambda c: _evidence(c).update(owner="numba"), "evidence: is of"),
    "twice": (
        lambda c: _seen(c)["evidence"].append(_seen(c)["evidence"][0]),
        "of which there is another one",
    ),
    "nothing compiled": (lambda c: _evidence(c).update(compiles=0), "judgements"),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_is_judged_again(copy: Lab, name: str) -> None:
    how, line = EVIDENCE[name]
    change(copy.out, OTHER, how)
    assert line in refused(copy)


@pytest.mark.slow
def test_a_rejected_process_is_not_made_valid(bench: Lab) -> None:
    asked = ("--backend", "hits_when_empty", "--cache-mode", "cold_process_cold_cache")
    bench.run(*asked)
    name = "hits_when_empty_small_8_f32"
    assert {one["status"] for one in bench.case(name)["observations"]} == {"rejected"}

    def valid(case: Case) -> None:
        case.update(status="ok", reason=None)
        for one in case["observations"]:
            one.update(status="ok", reason=None)
            for judgement in one["judgements"].values():
                judgement["proved"] = True

    change(bench.out, name, valid)
    assert "observations[0].status: says 'ok', but its observations say 'rejected'" in refused(
        bench
    )
    # Saying that an earlier version has judged so does not make its figures come out.
    change(bench.out, name, lambda c: c["protocol"].update(harness_sha256="0" * 64))
    assert "cold[0].n_ok: says 0, but its observations say 3" in refused(bench)


def test_a_plug_in_with_a_name_that_hides_is_refused(bench: Lab) -> None:
    folder = bench.path / "site"
    install(folder, "hidden", {"coldwarm.workloads": {"hidden": "hidden_workload"}})
    (folder / "hidden_workload.py").write_text('NAME = "small\\u202e"\n')
    bench.sites.append(folder)
    done = bench.command("cases")
    assert done.code == 2
    assert r"workload 'small\u202e' (hidden_workload): a name has at most" in done.one_line()
