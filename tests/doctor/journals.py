"""Journals as processes would leave them, written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

BEGIN_S = 1000.0
MAIN, OTHER = 140_000_000_000_001, 140_000_000_000_002


def process(**more: Any) -> dict[str, Any]:
    return {
        "kind": "process",
        "at_s": BEGIN_S,
        "pid": 4321,
        "parent": 1,
        "thread": MAIN,
        "argv": ["python", "train.py"],
        "folder": "/",
        "python": "3.13.0",
        "sees_calls": True,
        **more,
    }


def call(number: int, *, thread: int = MAIN, path: str = "/a.py", **more: Any) -> dict[str, Any]:
    return {
        "kind": "call",
        "at_s": BEGIN_S,
        "framework": "jax",
        "call": number,
        "slot": None,
        "stack": [[path, 3, "main"]],
        "thread": thread,
        "function": {"name": "step", "path": path, "line": 1},
        "captured": [],
        "cause": {"kind": "first"},
        "signature": {"arguments": {"x": "f32[3]"}, "static": {}},
        **more,
    }


def stage(number: int, begin_s: float, own_s: dict[str, float], **more: Any) -> dict[str, Any]:
    seconds = sum(own_s.values())
    return {
        "kind": "stage",
        "at_s": BEGIN_S + begin_s + seconds,
        "call": number,
        "stage": "compile",
        "begin_s": BEGIN_S + begin_s,
        "seconds": seconds,
        "own_s": own_s,
        "hit": False,
        "program": None,
        "memory": None,
        **more,
    }


def imported(name: str, begin_s: float, seconds: float, thread: int = MAIN) -> dict[str, Any]:
    return {
        "kind": "import",
        "at_s": BEGIN_S + begin_s + seconds,
        "name": name,
        "begin_s": BEGIN_S + begin_s,
        "seconds": seconds,
        "thread": thread,
    }


def looks(begin_s: float, *runs: tuple[tuple[str, int], str, float]) -> list[dict[str, Any]]:
    """Return rows of where the first thread was: a file and a line, what ran below, and seconds."""
    spots = [
        {
            "kind": "spot",
            "at_s": BEGIN_S,
            "number": number,
            "stack": [[path, line, "<module>"]],
            "below": below,
        }
        for number, ((path, line), below, _) in enumerate(runs, 1)
    ]
    seen = [[number, seconds] for number, (_, _, seconds) in enumerate(runs, 1)]
    row = {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S + begin_s, "runs": seen}
    return [*spots, row]


def looked(stack: list[list[Any]], below: str, seconds: float) -> list[dict[str, Any]]:
    """Return rows of where the first thread was, with the lines that called it."""
    spot = {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": below}
    runs = {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S, "runs": [[1, seconds]]}
    return [spot, runs]


def devices(begin_s: float, seconds: float) -> dict[str, Any]:
    end_s = BEGIN_S + begin_s + seconds
    return {"kind": "devices", "at_s": end_s, "seconds": seconds, "thread": MAIN}


def end(at_s: float) -> dict[str, Any]:
    return {"kind": "end", "at_s": BEGIN_S + at_s, "doctor_s": 0.001}


def written(folder: Path, *rows: dict[str, Any], name: str = "1") -> Path:
    """Write a journal into a folder, which is returned."""
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / f"{name}.counts").write_bytes(b"")
    return folder
