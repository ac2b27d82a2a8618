"""How coldwarm itself was checked: tables of what the committed benchmarks found."""

from __future__ import annotations

import json
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import more_rounds, nested, start_pairs
from benchmarks.doctor_real import table as programs
from benchmarks.trials import journal
from benchmarks.trials import table as trials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Row = dict[str, Any]

_COUNTED = {
    "lost": "observations_lost",
    "left": "processes_left",
    "hangs": "hangs",
    "traces": "tracebacks",
    "codes": "wrong_codes",
    "raw": "raw_output",
    "edits": "files_changed",
}
"""What must be 0 after a fault, and its field in the results."""


def _trials(results: Path) -> str:
    """Return the tables of both files: trials of a build and a machine have one for themselves."""
    warm, starts, peers = (
        trials.markdown(journal.read(results / f"{name}.jsonl"))
        for name in ("trials", "starts", "peers")
    )
    return f"{warm}\n## Starts\n\n{starts}\n## Other tools\n\n{peers}"


def _scatter(read: Callable[[str], Any]) -> str:
    """Return the scatter of warm calls and of starts."""
    calls, starts = nested.table(read("nested")), start_pairs.table(read("start_pairs"))
    return f"{calls}\n\n## Starts\n\n{starts}"


def pages(package: Path) -> dict[str, str]:
    """Return a page for each benchmark, in Markdown, and the page above them."""
    results = package.parents[1] / "benchmarks" / "results"

    def read(name: str) -> Any:  # noqa: ANN401 - each file has a form of its own
        return json.loads((results / f"{name}.json").read_text(encoding="utf-8"))

    doctor = programs.markdown(read("doctor_real"))
    found = {
        "deceits": ("Functions that hide their cost", "deceit", _deceits(read("deceit"))),
        "honest": ("Honest functions", "refuses", honest(read("honest")["cases"])),
        "scripts": ("Against a script", "deceit", _scripts(read("independent"))),
        "programs": ("The doctor on programs of others", "real-programs", doctor),
        "trials": ("Trials", "trials", _trials(results)),
        "rounds": ("One more round", "concepts", more_rounds.table(read("more_rounds"))),
        "processes": ("Scatter between processes", "concepts", _scatter(read)),
        "faults": ("Faults", "faults", faults(read("faults")["faults"])),
    }
    index = (
        "# Checks of coldwarm itself\n\nWhat the committed runs of the benchmarks found."
        f"\n\n```{{toctree}}\n:maxdepth: 1\n\n{chr(10).join(found)}\n```\n"
    )
    made = {
        f"{name}.md": f"# {title}\n\n[What this shows](/explanation/{page}.md).\n\n{text}\n"
        for name, (title, page, text) in found.items()
    }
    return {"index.md": index, **made}


def honest(cases: Iterable[Row]) -> str:
    """Return the counts of honest functions by library."""
    counts: dict[str, Counter[str]] = {}
    for one in cases:
        counts.setdefault(one["library"], Counter())[one["judged"]] += 1
    rows = [
        (library, str(of.total()), str(of["refused"]), str(of["accused"]))
        for library, of in sorted(counts.items())
    ]
    return _table(("of", "tried", "refused", "accused"), rows)


def faults(found: Sequence[Row]) -> str:
    """Return the counts after faults by kind."""
    kinds = dict.fromkeys(one["kind"] for one in found)
    rows = [_counts(kind, [one for one in found if one["kind"] == kind]) for kind in kinds]
    return _table(("kind", "faults", "commands", *_COUNTED), [*rows, _counts("all", found)])


def _counts(kind: str, of: Sequence[Row]) -> list[str]:
    numbers = [len(of), sum(one["commands"] for one in of)]
    for name in _COUNTED.values():
        values = [one[name] for one in of]
        numbers.append(sum(one if isinstance(one, int) else len(one) for one in values))
    return [kind, *map(str, numbers)]


def _deceits(found: Row) -> str:
    head = ("kind", "name", "figure", "true", "published", "outcome")
    parts = [
        f"## {title}\n\nOn {of['date']}, on two processors that others used as well:"
        f" {counted(of['rows'])}\n\n{_table(head, map(_deceit, of['rows']))}"
        for title, of in (
            ("By the command", found["command"]),
            ("In the process that has the function", found["process"]),
        )
    ]
    return "\n\n".join(parts)


def counted(rows: Sequence[Row]) -> str:
    """Return how many deceits came to which end."""
    of = Counter(one["outcome"] for one in rows)
    ends = ", ".join(f"{of[one]} {one}" for one in ("right", "refused", "named"))
    return f"{len(rows)} tried: {ends}, {of['SILENTLY WRONG']} silently wrong."


def _deceit(one: Row) -> list[str]:
    codes = ", ".join(f"`{code}`" for code in one["codes"])
    outcome = f"{one['outcome']}: {codes}" if codes else one["outcome"]
    published = one["published"] or "–"
    return [one["kind"], f"`{one['name']}`", one["figure"], one["true"], published, outcome]


def _scripts(found: Row) -> str:
    rows = [
        [
            f"`{one['case']}`",
            one["figure"],
            *(_milliseconds(one[side]) for side in ("coldwarm_s", "script_s")),
            f"{one['ratio']:.2f}",
            f"{one['low']:.2f} … {one['high']:.2f}",
            one["verdict"],
        ]
        for one in found["rows"]
    ]
    head = ("program", "figure", "coldwarm", "script", "ratio", "95 % interval", "verdict")
    return f"Measured on {found['date'][:10]}.\n\n{_table(head, rows)}"


def _milliseconds(seconds: Sequence[float]) -> str:
    return f"{1e3 * median(seconds):.4g} ms"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(one)} |" for one in lines)
