"""Every way in which a candidate can misbehave, all in one run beside a good candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.faults.lab import GOOD, Done, Lab, read_json, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLD = "cold_process_cold_cache"
FILLED = "cold_process_warm_cache"
WARM = "warm_process"
TIMEOUT = "timeout: 2"
RAISED = "exception: RuntimeError, on purpose"

FAILED = {
    "raise_import": RAISED,
    "raise_device_init": RAISED,
    "raise_place": RAISED,
    "raise_wrap": RAISED,
    "raise_first_call": RAISED,
    "raise_second_call": RAISED,
    "raise_warm_call": RAISED,
    "raise_unprintable": r"exception: RuntimeError, half a character: \udc80",
    "raise_end_of_file": "exception: EOFError, ",
    "leave": "exception: SystemExit, 0",
    "segfault": "signal: SIGSEGV",
    "segfault_warm": "signal: SIGSEGV",
    "exit_3": "exited: 3",
    "exit_0": "exited: 0",
    "killed": "killed",
    "hang_warm": TIMEOUT,
    "hang_stubbornly": TIMEOUT,
    "start_daemon_and_hang": TIMEOUT,
    "flood_stdout": f"output_flood: {64 * 2**20}",
    "flood_stderr": f"output_flood: {64 * 2**20}",
    "garbage_bytes": "garbage: b",
    "garbage_unfinished": "garbage: b",
    "garbage_endless": "garbage: a line without end",
    "garbage_deep": "garbage: b",
    "forged_list": "garbage: b",
    "forged_start": "malformed: start, Object missing required field",
    "forged_failed": "malformed: failed, Object missing required field",
    "forged_kind": "garbage: expected a 'start' message",
    "forged_number": "garbage: b",
    "forged_block": "malformed: block, ",
    "counts_nonsense": "malformed: start, Expected `int | null`, got `str`",
    "parts_nonsense": "malformed: start, Expected `float` >= 0.0",
    "wrong": "correctness_gate",
    "wrong_later": "correctness_gate",
    "nearly": "correctness_gate",
    "not_a_number": "correctness_gate",
    "infinite": "correctness_gate",
    "another_shape": "correctness_gate",
    "too_many": "correctness_gate",
    "mutates": "correctness_gate",
}
WARNED = {
    "no_device": "gpu_unavailable",
    "no_such_module": "missing_dependency: a_module_that_nobody_has",
    "hits_when_empty": f"not_proved: {COLD}, contradicted: {COLD}, ",
    "misses_when_filled": f"not_proved: {FILLED}, contradicted: {FILLED}, ",
    "compiles_when_warm": f"not_proved: {WARM}, contradicted: {WARM}, ",
    "counts_nothing": f"not_proved: {COLD} {FILLED}, contradicted: {FILLED}, ",
}
FINE = ("numpy", "chatter", "honest", "parts_too_long", "start_daemon", "killed_while_told")
WRONG = [name for name, reason in FAILED.items() if reason == "correctness_gate"]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[tuple[Lab, Done]]:
    """Return one run with every fault in it."""
    lab = Lab(tmp_path_factory.mktemp("faults"), [site])
    yield lab, lab.run("--timeout", "2s", "--case", "small_8_f32,no_reference_8_f32")
    lab.assert_no_orphans()


def published(lab: Lab, name: str) -> list[dict[str, Any]]:
    return [read_json(path) for path in (lab.out / "nextstat").glob(f"{name}_small_8_f32*.json")]


def test_the_run_goes_on_to_its_end(everything: tuple[Lab, Done]) -> None:
    lab, done = everything
    assert done.code == 3, done.err
    suite = lab.suite()
    assert suite["complete"]
    small = [case for case in suite["cases"] if case["case"].endswith("_small_8_f32")]
    assert {case["case"].removesuffix("_small_8_f32") for case in small} >= {
        *FAILED,
        *WARNED,
        *FINE,
    }
    assert sum(case["status"] == "failed" for case in small) == len(FAILED)
    assert sum(case["status"] == "warn" for case in small) == len(WARNED)


def test_nothing_is_left_but_valid_artifacts(everything: tuple[Lab, Done]) -> None:
    lab, _ = everything
    lab.assert_clean()
    validated = lab.command("validate", lab.out)
    assert validated.code == 0, validated.out
    assert validated.out.count(": OK ") == len(list(lab.out.rglob("*.json*")))
    size = sum(path.stat().st_size for path in lab.out.rglob("*") if path.is_file())
    assert size < 4_000_000


@pytest.mark.parametrize("name", FINE)
def test_a_candidate_that_works_is_measured_beside_them(
    everything: tuple[Lab, Done], name: str
) -> None:
    case = everything[0].case(f"{name}_small_8_f32")
    assert (case["status"], case["reason"]) == ("ok", None)
    assert {cold["cache_mode"]: cold["n_ok"] for cold in case["cold"]} == {COLD: 1, FILLED: 1}
    assert case["warm"]["n_processes"] == 1


@pytest.mark.parametrize(("name", "reason"), FAILED.items())
def test_a_fault_is_a_failed_case_with_its_reason(
    everything: tuple[Lab, Done], name: str, reason: str
) -> None:
    case = everything[0].case(f"{name}_small_8_f32")
    assert case["status"] == "failed"
    assert shown(case["reason"]).startswith(reason)
    failed = [seen for seen in case["observations"] if seen["status"] == "failed"]
    assert len(failed) == 1, "a failed case is not tried again"
    assert failed[0]["wall_s"] > 0
    for result in published(everything[0], name):
        assert (result["status"], result["reason"]) == ("failed", shown(case["reason"]))


def test_the_last_words_of_a_process_are_kept(everything: tuple[Lab, Done]) -> None:
    lab, _ = everything
    raised = lab.case("raise_first_call_small_8_f32")["observations"][0]
    assert "with a second line" in raised["stderr_tail"]
    assert "faulty_backend.py" in raised["stderr_tail"]
    flood = lab.case("flood_stderr_small_8_f32")["observations"][0]
    assert "dull log" in flood["stderr_tail"]
    assert len(flood["stderr_tail"]) <= 16 * 1024


def test_two_gigabytes_of_output_are_cut_early(everything: tuple[Lab, Done]) -> None:
    for name in ("flood_stdout", "flood_stderr"):
        seen = everything[0].case(f"{name}_small_8_f32")["observations"][0]
        assert seen["wall_s"] < 2.0


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_publishes_no_timing(everything: tuple[Lab, Done], name: str) -> None:
    case = everything[0].case(f"{name}_small_8_f32")
    assert (case["cold"], case["warm"], case["comparisons"]) == ([], None, [])
    assert any(seen["gate"] and not seen["gate"]["passed"] for seen in case["observations"])
    for seen in case["observations"]:
        # How long a process was there is no figure of the candidate's.
        assert set(_durations(seen)) <= {"wall_s"}, seen
    results = published(everything[0], name)
    assert results
    for result in results:
        assert result["timing"]["cold"]["runs"] == []
        assert result["timing"]["warm"]["calls_s"] == []
        assert not list(_durations(result["timing"]))


def _durations(value: object, name: str = "") -> Iterator[str]:
    """Yield the name of every number that a field in seconds holds."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _durations(part, str(key))
    elif isinstance(value, list):
        for part in value:
            yield from _durations(part, name)
    elif isinstance(value, float | int) and name.endswith("_s"):
        yield name


def test_what_the_gate_saw_is_published(everything: tuple[Lab, Done]) -> None:
    lab, _ = everything

    def gate(name: str) -> dict[str, Any]:
        seen = lab.case(f"{name}_small_8_f32")["observations"][-1]
        found: dict[str, Any] = seen["gate"]
        return found

    assert gate("wrong")["checked"] == ["first_call"]
    assert gate("wrong_later")["checked"] == ["first_call", "last_call"]
    assert gate("mutates")["checked"] == ["first_call", "last_call"]
    assert gate("nearly")["max_relative_error"] == pytest.approx(1e-3, rel=0.7)
    assert gate("not_a_number")["max_abs_error"] is None
    assert gate("infinite")["reason"] == {"code": "output_not_finite"}
    assert shown(gate("another_shape")["reason"]) == "other_shape: 0, (8, 8), (1, 8)"
    assert shown(gate("too_many")["reason"]) == "other_outputs: 1, 2"


@pytest.mark.parametrize(("name", "reason"), WARNED.items())
def test_what_is_not_there_or_not_proved_is_a_warning(
    everything: tuple[Lab, Done], name: str, reason: str
) -> None:
    case = everything[0].case(f"{name}_small_8_f32")
    assert case["status"] == "warn"
    assert shown(case["reason"]).startswith(reason)


def test_a_missing_module_starts_no_process(everything: tuple[Lab, Done]) -> None:
    case = everything[0].case("no_such_module_small_8_f32")
    assert case["observations"] == []
    assert not any("no_such_module" in entry for entry in everything[0].suite()["order"])


@pytest.mark.parametrize(
    ("name", "mode", "reason"),
    [
        ("hits_when_empty", COLD, "foreign_hits: jax, 1"),
        ("misses_when_filled", FILLED, "not_from_cache: jax, 1, 0, 1"),
        ("counts_nothing", COLD, "uncounted: jax, files hits"),
        ("counts_nothing", FILLED, "no_hits: jax"),
    ],
)
def test_a_contradicted_mode_is_tried_three_times_and_published_as_rejected(
    everything: tuple[Lab, Done], name: str, mode: str, reason: str
) -> None:
    case = everything[0].case(f"{name}_small_8_f32")
    seen = [one for one in case["observations"] if one["cache_mode"] == mode]
    assert [one["attempt"] for one in seen] == [0, 1, 2]
    assert {one["status"] for one in seen} == {"rejected"}
    assert all(reason in shown(one["reason"]) for one in seen)
    cold = next(one for one in case["cold"] if one["cache_mode"] == mode)
    assert (cold["n_ok"], cold["n_rejected"]) == (0, 3)


def test_a_compile_in_the_warm_window_rejects_it_and_keeps_the_start(
    everything: tuple[Lab, Done],
) -> None:
    case = everything[0].case("compiles_when_warm_small_8_f32")
    stayed = [one for one in case["observations"] if one["blocks"]]
    assert [(one["cache_mode"], one["status"]) for one in stayed] == [
        (FILLED, "ok"),
        (WARM, "rejected"),
        (WARM, "rejected"),
    ]
    assert stayed[0]["judgements"][FILLED]["proved"]
    for one in stayed:
        assert not one["judgements"][WARM]["proved"]
        assert one["judgements"][WARM]["reason"]["code"] == "compiled_in_window"
    assert case["warm"]["call_s"] is None
    assert case["warm"]["n_rejected"] == 3


def test_parts_never_exceed_the_first_call(everything: tuple[Lab, Done]) -> None:
    for seen in everything[0].case("parts_too_long_small_8_f32")["observations"]:
        parts = seen["first_call_parts"]
        first = next(one for one in seen["phases"] if one["name"] == "first_call")
        given = [value for name, value in parts.items() if name.endswith("_s") and value]
        assert sum(given) == pytest.approx(first["duration_s"])


def test_a_reference_that_cannot_be_computed_fails_its_cases_alone(
    everything: tuple[Lab, Done],
) -> None:
    case = everything[0].case(GOOD.replace("small", "no_reference"))
    assert case["status"] == "failed"
    why = "reference_failed: exception: ArithmeticError, no answer on purpose"
    assert shown(case["reason"]) == why
    assert case["dataset_sha256"] is None
    assert "dataset_sha256" in case["null_reasons"]
