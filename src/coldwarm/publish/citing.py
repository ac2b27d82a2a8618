"""How a snapshot is cited and described: CITATION.cff, RO-Crate 1.1, and Zenodo's metadata.

All are written as JSON, which YAML reads too, and say nothing that is not in the snapshot besides.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.base import is_name
from coldwarm.errors import UsageError
from coldwarm.publish import layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.publish.runs import Content

_SPDX = re.compile(r"[A-Za-z0-9.+-]{1,60}")
NO_AUTHOR = "Authors not named"
_KEYWORDS = ("benchmark", "just-in-time compilation", "cold start", "reproducibility")
_CONFORMS = "https://w3id.org/ro/crate/1.1"


class _Described(NamedTuple):
    """What a snapshot is called, by whom and when."""

    snapshot_id: str
    generated_at: str
    """UTC, ISO 8601."""
    authors: tuple[str, ...]
    """As they want to be cited; empty: they are not named."""
    licence: str | None
    """An SPDX identifier; ``None``: none is given."""
    suites: tuple[str, ...]
    cpus: tuple[str, ...]
    judged: tuple[str, ...] = ()
    """``patterns`` and ``claims``, where it has verdicts on them."""

    @property
    def title(self) -> str:
        """A line for those who cite it."""
        return f"coldwarm snapshot {self.snapshot_id}"

    @property
    def abstract(self) -> str:
        """What it holds, in a sentence or two."""
        held = []
        if self.suites:
            named = f"the {_listed(self.suites)} suite{'s' * (len(self.suites) > 1)}"
            held.append(f"cold-start and warm-call distributions of {named}")
        if self.judged:
            held.append(f"verdicts on {_listed(self.judged)} about just-in-time compilers")
        told = _listed(held)
        return (
            f"{told[:1].upper()}{told[1:]}, measured with coldwarm on "
            f"{_listed(self.cpus) or 'a processor that gives no name'}: raw samples, summaries, "
            "verdicts, the environment and the cache policies they belong to, with hashes of every "
            "file."
        )


def described(
    snapshot_id: str,
    generated_at: str,
    content: Content,
    authors: Sequence[str],
    licence: str | None,
) -> _Described:
    """Return what is told of a snapshot."""
    models = {one.cpu.model for one in content.environments if one.cpu.model}
    suites = {run.suite.suite for run in content.runs}
    return _Described(
        snapshot_id,
        generated_at,
        tuple(authors),
        licence,
        tuple(sorted(suites)),
        tuple(sorted(models)),
        tuple(one.kind for one in content.verdicts),
    )


def refuse(authors: Sequence[str], licence: str | None) -> None:
    """Refuse names and licences that could not stand in one line.

    Raises:
        UsageError: one is empty, too long, or holds what nobody sees.
    """
    for name in authors:
        if not is_name(name):
            raise UsageError(f"--author {name[:80]!r} is no name: one line of visible characters")
    if licence is not None and not _SPDX.fullmatch(licence):
        raise UsageError(f"--license {licence[:80]!r} is no SPDX identifier, such as CC-BY-4.0")


def citation(about: _Described) -> bytes:
    """Return ``CITATION.cff``, whose YAML is written as JSON strings."""
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite this snapshot where its figures are used.",
        "type: dataset",
        f"title: {_quoted(about.title)}",
        f"abstract: {_quoted(about.abstract)}",
        f"version: {_quoted(about.snapshot_id)}",
        f'date-released: "{about.generated_at[:10]}"',
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in about.authors or (NO_AUTHOR,)),
        "keywords:",
        *(f"  - {word}" for word in _KEYWORDS),
    ]
    if about.licence:
        lines.append(f"license: {_quoted(about.licence)}")
    return ("\n".join(lines) + "\n").encode()


def zenodo(about: _Described) -> bytes:
    """Return ``.zenodo.json``."""
    document: dict[str, Any] = {
        "title": about.title,
        "upload_type": "dataset",
        "description": about.abstract,
        "version": about.snapshot_id,
        "publication_date": about.generated_at[:10],
        "creators": [{"name": name} for name in about.authors or (NO_AUTHOR,)],
        "keywords": list(_KEYWORDS),
    }
    if about.licence:
        document["license"] = about.licence
    return _json(document)


def crate(about: _Described, files: Mapping[str, bytes]) -> bytes:
    """Return ``ro-crate-metadata.json`` over the files of a snapshot.

    It is written here and not by a library, so that the same snapshot has the same bytes: of two
    files, neither can hold the hash of the other, so hashes stand in the snapshot's index alone.
    """
    people = [{"@id": f"#author-{n}"} for n in range(1, len(about.authors) + 1)]
    parts = sorted({*files, layout.INDEX})
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": about.abstract,
        "identifier": about.snapshot_id,
        "datePublished": about.generated_at,
        "keywords": ", ".join(_KEYWORDS),
        "hasPart": [{"@id": path} for path in parts],
    }
    if people:
        root["author"] = people
    if about.licence:
        root["license"] = {"@id": f"https://spdx.org/licenses/{about.licence}"}
    graph: list[dict[str, Any]] = [
        {
            "@id": layout.CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _CONFORMS},
            "about": {"@id": "./"},
        },
        root,
        *(
            {"@id": f"#author-{n}", "@type": "Person", "name": name}
            for n, name in enumerate(about.authors, start=1)
        ),
        *(_file(path, files.get(path)) for path in parts),
    ]
    return _json({"@context": f"{_CONFORMS}/context", "@graph": graph})


def _file(path: str, data: bytes | None) -> dict[str, Any]:
    part = layout.part_of(path)
    told: dict[str, Any] = {"@id": path, "@type": "File", "name": path}
    if part is not None:
        told |= {"description": part.holds, "encodingFormat": part.format}
    elif path == layout.INDEX:
        told |= {"description": "every file with its hash", "encodingFormat": "application/json"}
    return told if data is None else told | {"contentSize": str(len(data))}


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
