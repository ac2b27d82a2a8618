"""What becomes of a worker's messages."""

from __future__ import annotations

import json
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.contracts import samples

from coldwarm.caches import listing
from coldwarm.contracts.observation import Phase
from coldwarm.runner import accounts, translate
from coldwarm.runner.process import replies
from coldwarm.runner.process.spawn import describe_exit

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = st.none() | st.floats(0, 100)
NAMES = ("trace_s", "lower_s", "compile_s", "cache_read_s")


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, SECONDS)), st.floats(0, 100))
def test_parts_and_rest_make_the_whole(said: dict[str, float | None], first_call_s: float) -> None:
    parts = accounts.of_call(said, first_call_s)
    values = {name: getattr(parts, name) for name in NAMES}
    known = [value for value in (*values.values(), parts.rest_s) if value is not None]
    assert all(value >= 0 for value in known)
    assert sum(known) == pytest.approx(first_call_s)
    assert {name for name, value in values.items() if value is None} == parts.null_reasons.keys()
    total_s = sum(value for value in said.values() if value is not None)
    if total_s <= first_call_s + max(1e-3, 0.01 * first_call_s):
        assert {name for name, value in said.items() if value is None} == parts.null_reasons.keys()
    else:
        assert set(NAMES) == parts.null_reasons.keys()


def test_parts_that_exceed_their_call_are_withheld_and_not_made_to_fit() -> None:
    said = {"trace_s": 0.3, "lower_s": 0.2, "compile_s": 1.0, "cache_read_s": None}
    parts = accounts.of_call(said, 1.0)
    assert (parts.trace_s, parts.compile_s, parts.rest_s) == (None, None, 1.0)
    assert parts.null_reasons["compile_s"] == "the parts, 1.5 s together, exceed the call, 1 s"


def test_the_reason_of_the_backend_is_kept() -> None:
    said = {**dict.fromkeys(NAMES), "reasons": {"trace_s": "eager: nothing is traced"}}
    parts = accounts.of_call(said, 1.0)
    assert parts.null_reasons["trace_s"] == "eager: nothing is traced"
    assert parts.null_reasons["lower_s"] == "the backend gives no account of it"
    assert parts.rest_s == 1.0


def test_samples_are_seconds_for_one_call() -> None:
    said = {
        "start_ns": 3_000_000_000,
        "batch": 4,
        "samples_ns": [4000, 8000],
        "compiles": None,
        "involuntary_switches": 2,
        "page_faults": 3,
        "idle_cpu_s": 0.5,
        "cpu_s": 0.25,
        "wall_ns": 300_000_000,
    }
    block = translate.block(said, 7, 1_000_000_000)
    assert block.start_s == 2.0
    assert block.samples_s == [1e-6, 2e-6]
    assert (block.order, block.batch, block.compiles) == (7, 4, None)
    assert (block.involuntary_switches, block.page_faults, block.wall_s) == (2, 3, 0.3)
    assert block.null_reasons == {
        "compiles": "the backend keeps no count of compiles",
        "bound_to": "it ran wherever the system put it",
    }
    assert translate.block(said, 7, 1_000_000_000, bound_to=1).bound_to == 1


def test_a_start_is_judged_by_what_was_there_after_it(tmp_path: Path) -> None:
    """GIVEN a process that stays THEN what its warm blocks write is not charged to its start."""
    folder = tmp_path / "jax"
    folder.mkdir()
    before = listing.take(folder)
    (folder / "first").touch()
    after = listing.take(folder)
    (folder / "later").touch()
    running = SimpleNamespace(
        start={"counters": {"jax": {"hits": 0}}},
        before={"jax": before},
        after={"jax": after},
        slot=SimpleNamespace(root=tmp_path),
    )
    (found,) = translate.evidence(running)  # type: ignore[arg-type] # what it reads of one
    assert (found.files_before, found.files_after) == (0, 1)
    running.after = None
    (found,) = translate.evidence(running)  # type: ignore[arg-type] # as above
    assert found.files_after == 2


def test_memory_is_that_up_to_the_second_call() -> None:
    seen = samples.observation("cold_process_cold_cache")
    assert seen.peak_rss_bytes == seen.phases[-1].peak_rss_bytes
    later = Phase(name="new_shape_1", start_s=9.0, duration_s=1.0, peak_rss_bytes=10**12)
    more = replace(seen, phases=[*seen.phases, later])
    assert more.peak_rss_bytes == seen.peak_rss_bytes


def start() -> dict[str, Any]:
    """Return a reply as a worker gives it after its start."""
    names = ("import", "device_init", "setup", "wrap", "first_call", "second_call")
    return {
        "type": "start",
        "entered_ns": 20,
        "loaded_ns": 30,
        "phases": [
            {
                "name": name,
                "begin_ns": 40 + 10 * place,
                "end_ns": 45 + 10 * place,
                "peak_rss_bytes": 4096,
                "involuntary_switches": None,
            }
            for place, name in enumerate(names)
        ],
        "parts": dict.fromkeys(NAMES),
        "counters": {"jax": {"hits": 1, "raw": {"events": 2}}},
        "bytecode": {"with_bytecode": 1},
        "read_bytes": None,
        "gate": None,
        "input_sha256": "0" * 64,
        "device": {"platform": "cpu", "kind": "cpu", "count": 1, "memory_peak_bytes": None},
        "versions": {"python": "3"},
    }


def read(message: object, due: replies.Kind = "start", spawned_ns: int = 10) -> dict[str, Any]:
    return replies.read(json.dumps(message).encode(), due, spawned_ns)


def test_a_reply_in_its_shape_is_taken_as_it_is() -> None:
    assert read(start()) == start()
    failed = {"type": "failed", "reason": "because", "detail": ""}
    assert read(failed, "block") == failed


def test_phases_are_on_the_axis_of_the_spawn() -> None:
    spans = translate.phases(start(), 10)
    assert [span.name for span in spans][:2] == ["interpreter", "import"]
    assert spans[0].duration_s == pytest.approx(1e-8)
    assert spans[1].start_s == pytest.approx(3e-8)
    assert spans[1].null_reasons.keys() == {"involuntary_switches"}


@pytest.mark.parametrize("name", [name for name in start() if name != "type"])
def test_a_reply_without_a_field_is_refused_with_its_name(name: str) -> None:
    message = start()
    del message[name]
    with pytest.raises(replies.MalformedReplyError, match=f"missing required field `{name}`"):
        read(message)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "end"}, "expected a 'start' message, got 'end'"),
        ({"type": None}, "expected a 'start' message, got 'None'"),
        ({"phases": []}, "expected the phases import, device_init"),
        ({"phases": list(reversed(start()["phases"]))}, "expected the phases import"),
        ({"entered_ns": 5}, "not one after the other"),
        ({"loaded_ns": 10**6}, "not one after the other"),
        ({"entered_ns": -1}, "malformed 'start' message"),
        ({"entered_ns": 2**70}, "garbage on the pipe|malformed 'start' message"),
        ({"input_sha256": "abc"}, "malformed 'start' message"),
        ({"counters": {"jax": {"hits": -1}}}, "malformed 'start' message"),
        ({"versions": {"python": "\udc80"}}, "garbage on the pipe"),
    ],
)
def test_a_reply_out_of_shape_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(replies.MalformedReplyError, match=said):
        read({**start(), **changes})


def made() -> dict[str, Any]:
    """Return a reply as a process gives it that has made something beforehand."""
    usual = start()
    spans = usual["phases"][:5]
    spans[-1]["name"] = "make"
    kept = ("entered_ns", "parts", "counters", "input_sha256", "device", "versions")
    used = {"involuntary_switches": 0, "cpu_user_s": 0.5, "cpu_system_s": 0.1, "child_cpu_s": 0.0}
    return {"type": "made", "phases": spans, **{name: usual[name] for name in kept}, **used}


@pytest.mark.parametrize(
    "changes",
    [
        {"phases": start()["phases"]},
        {"phases": list(reversed(made()["phases"]))},
        {"entered_ns": 5},
        {"cpu_user_s": None},
        {"parts": {"trace_s": -1.0}},
    ],
)
def test_a_making_is_taken_in_its_shape_alone(changes: dict[str, object]) -> None:
    assert read(made(), "made") == made()
    with pytest.raises(replies.MalformedReplyError, match="malformed 'made' message"):
        read({**made(), **changes}, "made")


@given(st.dictionaries(st.sampled_from(list(start())), st.none() | st.integers() | st.text()))
def test_nothing_but_a_shape_gets_through(changes: dict[str, object]) -> None:
    try:
        message = read({**start(), **changes})
    except replies.MalformedReplyError:
        return
    assert message["type"] in {"start", "failed"}
    translate.phases(message, 10)
    accounts.of_call(message["parts"], 1.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (3, "exit: 3 before a result"),
        (0, "exit: 0 before a result"),
        (-signal.SIGSEGV, "signal: SIGSEGV"),
        (-signal.SIGKILL, "signal: SIGKILL (killed; out of memory?)"),
        (-250, "signal: 250"),
    ],
)
def test_an_exit_in_words(code: int, said: str) -> None:
    assert describe_exit(code) == said
