"""What becomes of a worker's messages."""

from __future__ import annotations

import json
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.contracts import samples

from coldwarm.caches import listing
from coldwarm.contracts.observation import PARTS, Phase
from coldwarm.contracts.reasons import Reason, because
from coldwarm.runner import replies
from coldwarm.runner.replies import _Parts as Parts
from coldwarm.runner.spawn import ProcessFailedError, describe_exit

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import Record

SECONDS = st.none() | st.floats(0, 100)


@given(st.fixed_dictionaries(dict.fromkeys(PARTS, SECONDS)), st.floats(0, 100))
def test_parts_and_rest_make_the_whole(said: dict[str, Any], first_call_s: float) -> None:
    parts = Parts(**said).within(first_call_s)
    values = {name: getattr(parts, name) for name in PARTS}
    known = [value for value in (*values.values(), parts.rest_s) if value is not None]
    assert all(value >= 0 for value in known)
    assert sum(known) == pytest.approx(first_call_s)
    assert {name for name, value in values.items() if value is None} == parts.null_reasons.keys()
    total_s = sum(value for value in said.values() if value is not None)
    if total_s <= first_call_s + max(1e-3, 0.01 * first_call_s):
        assert {name for name, value in said.items() if value is None} == parts.null_reasons.keys()
    else:
        assert set(PARTS) == parts.null_reasons.keys()


def test_parts_that_exceed_their_call_are_withheld_and_not_made_to_fit() -> None:
    parts = Parts(trace_s=0.3, lower_s=0.2, compile_s=1.0).within(1.0)
    assert (parts.trace_s, parts.compile_s, parts.rest_s) == (None, None, 1.0)
    assert str(parts.null_reasons["compile_s"]) == "parts_exceed: 1.5, 1"


def test_the_reason_of_the_backend_is_kept() -> None:
    coded = because("missing_dependency", name="jax")
    reasons: dict[str, str | Reason] = {"trace_s": "eager: nothing is traced", "compile_s": coded}
    parts = Parts(reasons=reasons).within(1.0)
    assert parts.null_reasons["trace_s"] == because("stated", text="eager: nothing is traced")
    assert parts.null_reasons["compile_s"] == coded
    assert parts.null_reasons["lower_s"] == because("not_told", by="the backend")
    assert parts.rest_s == 1.0


def test_samples_are_seconds_for_one_call() -> None:
    said = replies.BlockReply(
        start_ns=3_000_000_000,
        batch=4,
        samples_ns=[4000, 8000],
        compiles=None,
        involuntary_switches=2,
        page_faults=3,
        idle_cpu_s=0.5,
        cpu_s=0.25,
        wall_ns=300_000_000,
    )
    block = said.block(7, 1_000_000_000)
    assert block.start_s == 2.0
    assert block.samples_s == [1e-6, 2e-6]
    assert (block.order, block.batch, block.compiles) == (7, 4, None)
    assert (block.involuntary_switches, block.page_faults, block.wall_s) == (2, 3, 0.3)
    assert block.null_reasons == {
        "compiles": because("not_told", by="the backend"),
        "bound_to": because("not_bound"),
    }
    assert said.block(7, 1_000_000_000, bound_to=1).bound_to == 1


def test_the_evidence_is_of_what_was_there_before_and_after(tmp_path: Path) -> None:
    """GIVEN listings around a start THEN what is written later is not charged to it."""
    (tmp_path / "first").touch()
    before = listing.take(tmp_path / "not there")
    after = listing.take(tmp_path)
    (tmp_path / "later").touch()
    found = replies.Counters(hits=0).evidence("jax", before, after)
    assert (found.files_before, found.files_after, found.hits) == (0, 1, 0)
    assert found.null_reasons["misses"] == because("not_told", by="jax")


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
        "parts": dict.fromkeys(PARTS),
        "counters": {"jax": {"hits": 1, "raw": {"events": 2}}},
        "bytecode": {"with_bytecode": 1},
        "read_bytes": None,
        "gate": None,
        "input_sha256": "0" * 64,
        "device": {"platform": "cpu", "kind": "cpu", "count": 1, "memory_peak_bytes": None},
        "versions": {"python": "3"},
    }


def read(message: object, due: type[Record] = replies.Start, spawned_ns: int = 10) -> Record:
    """Return what the runner takes of a message; a process that is refused is dead."""
    killed: list[bool] = []
    process = SimpleNamespace(
        receive=lambda: json.dumps(message).encode(),
        spawned_ns=spawned_ns,
        output_tail="",
        kill=lambda: killed.append(True),
    )
    try:
        return replies.receive(cast("Any", process), due)
    except ProcessFailedError:
        assert killed
        raise


def test_a_reply_in_its_shape_is_taken_with_its_type() -> None:
    reply = read(start())
    assert isinstance(reply, replies.Start)
    assert [span.name for span in reply.phases] == [span["name"] for span in start()["phases"]]
    assert reply.counters["jax"].hits == 1


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ("gpu_unavailable", "gpu_unavailable"),
        ("something of its own", "stated: something of its own"),
        ({"code": "missing_dependency", "values": {"name": "jax"}}, "missing_dependency: jax"),
    ],
)
def test_a_failure_is_told_in_words_or_as_a_code(stated: object, reason: str) -> None:
    with pytest.raises(ProcessFailedError) as failed:
        read({"type": "failed", "reason": stated, "detail": ""}, replies.BlockReply)
    assert str(failed.value.reason) == reason


def test_a_code_that_is_not_declared_is_refused() -> None:
    stated = {"code": "no such code"}
    with pytest.raises(ProcessFailedError, match="no reason has the code"):
        read({"type": "failed", "reason": stated, "detail": ""})


def test_phases_are_on_the_axis_of_the_spawn() -> None:
    said = read(start())
    assert isinstance(said, replies.Start)
    spans = said.spans(10)
    assert [span.name for span in spans][:2] == ["interpreter", "import"]
    assert spans[0].duration_s == pytest.approx(1e-8)
    assert spans[1].start_s == pytest.approx(3e-8)
    assert spans[1].null_reasons.keys() == {"involuntary_switches"}


@pytest.mark.parametrize("name", [name for name in start() if name != "type"])
def test_a_reply_without_a_field_is_refused_with_its_name(name: str) -> None:
    message = start()
    del message[name]
    with pytest.raises(ProcessFailedError, match=f"missing required field `{name}`"):
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
        ({"entered_ns": -1}, "malformed: start"),
        ({"entered_ns": 2**70}, "garbage|malformed: start"),
        ({"input_sha256": "abc"}, "malformed: start"),
        ({"counters": {"jax": {"hits": -1}}}, "malformed: start"),
        ({"versions": {"python": "\udc80"}}, "garbage: "),
    ],
)
def test_a_reply_out_of_shape_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ProcessFailedError, match=said):
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
        {"cpu_user_s": -1.0},
        {"parts": {"trace_s": -1.0}},
    ],
)
def test_a_making_is_taken_in_its_shape_alone(changes: dict[str, object]) -> None:
    assert isinstance(read(made(), replies.MadeReply), replies.MadeReply)
    with pytest.raises(ProcessFailedError, match="malformed: made"):
        read({**made(), **changes}, replies.MadeReply)


@given(st.dictionaries(st.sampled_from(list(start())), st.none() | st.integers() | st.text()))
def test_nothing_but_a_shape_gets_through(changes: dict[str, object]) -> None:
    try:
        message = read({**start(), **changes})
    except ProcessFailedError:
        return
    assert isinstance(message, replies.Start)
    message.spans(10)
    message.parts.within(1.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (3, "exited: 3"),
        (0, "exited: 0"),
        (-signal.SIGSEGV, "signal: SIGSEGV"),
        (-signal.SIGKILL, "killed"),
        (-250, "signal: 250"),
    ],
)
def test_an_exit_has_its_reason(code: int, said: str) -> None:
    assert str(describe_exit(code)) == said
