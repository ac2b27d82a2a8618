"""How coldwarm itself was checked: tables of what the committed benchmarks found."""

from __future__ import annotations

import json
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import jobs_alone, more_rounds, nested, start_pairs
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
        "changes": ("Changes in histories", "trials", _changes(read)),
        "alone": ("Ten jobs by other scripts", "when-jax-wins", _alone(read("jobs_alone"))),
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


def _alone(found: Row) -> str:
    """Return how many times as long as NumPy each takes, by other scripts on another machine."""
    head = ("job", "size", "framework", "curve", "script", "")
    rows = []
    for one in found["rows"]:
        point = jobs_alone.Point(**{k: one[k] for k in jobs_alone.Point.__dataclass_fields__})
        apart = "" if point.agrees(one["script_ratio"]) else "apart"
        figures = [f"{one[name]:.3g}" for name in ("ratio", "script_ratio")]
        if one["framework"] != "numpy":
            rows.append([one["job"], f"{one['size']:,}", one["framework"], *figures, apart])
    return (
        "How many times as long as NumPy a warm call takes, at the smallest and the largest size:"
        " by coldwarm on a processor with AVX-512, and by scripts on one with AVX2 alone."
        f" Measured on {found['date'][:10]}.\n\n{_table(head, rows)}"
    )


def _changes(read: Callable[[str], Any]) -> str:
    """Return how often changes of level are called, in drawn series and in published ones."""
    drawn, published = read("change_points"), read("published_histories")
    steps = list(drawn["rows"][0]["told"])
    rows = [
        [one["kind"], f"{100 * one['scatter']:.2g} %", f"{one['false']} of {one['runs']}"]
        + [f"{100 * one['told'][step]:.0f} %" for step in steps]
        for one in drawn["rows"]
    ]
    head = ["noise", "scatter", "false, of runs", *_told(steps)]
    theirs = published["rows"]
    larger = list(next(iter(theirs.values()))["told"])
    beside = [
        [name, str(one["called"]), f"{one['false']} of {one['points']}"]
        + [f"{100 * one['told'][step]:.0f} %" for step in larger]
        for name, one in theirs.items()
    ]
    below = ["detector", "called", "false, in a random order", *_told(larger)]
    projects = ", ".join(published["projects"])
    return (
        "Drawn series. A step is told if it is found by the third run that has it.\n\n"
        f"{_table(head, rows)}\n\n## Histories that others have published\n\n"
        f"{published['series']} series of {projects}, measured on machines of GitHub. In a random"
        " order nothing changes, so that each change that is called is false; the steps were put"
        f" into these.\n\n{_table(below, beside)}"
    )


def _told(steps: Sequence[str]) -> list[str]:
    return [f"{100 * float(step):.0f} % told" for step in steps]


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
