"""Figures as files: the same bytes each time, no script in them, whatever names are."""

from __future__ import annotations

import json
import struct
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt
from tests.cli.test_shown import HOSTILE, obeyed
from tests.report.charts import conftest
from tests.stats import results

from coldwarm.cli.main import cli
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.installing import MissingError
from coldwarm.report.charts import drawing, every
from coldwarm.report.charts.compared import pairs
from coldwarm.report.charts.workload import workloads
from coldwarm.report.formats import Format, load, markdown, names, pdf

if TYPE_CHECKING:
    from coldwarm.contracts.result import Measured

vl_convert = pytest.importorskip("vl_convert")
SVG = "{http://www.w3.org/2000/svg}"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def hostile(measured: Measured) -> Measured:
    """Return a result every free text of which wants to be obeyed."""
    every_text = " ".join(HOSTILE)
    cases = {}
    for number, case in enumerate(measured.cases.values()):
        cases[case.case] = msgspec.structs.replace(
            case,
            candidate=f"{number}{' '.join(HOSTILE[number::2])}",
            workload='</title><script>alert(1)</script>\x1b[31m\u202e\'"]`#eval("1")',
            limitations=[because("stated", text=every_text)],
            protocol=msgspec.structs.replace(
                case.protocol,
                data_layout=every_text,
                interleaving=every_text,
                windows={every_text: every_text},
                environment_variables={every_text: every_text},
            ),
        )
    assert measured.suite
    assert measured.environment
    machine = measured.environment
    environment = msgspec.structs.replace(
        machine,
        cpu=msgspec.structs.replace(machine.cpu, model=every_text, architecture=every_text),
        system=msgspec.structs.replace(machine.system, os=every_text, kernel=every_text),
        python=msgspec.structs.replace(machine.python, build=every_text, compiler=every_text),
        harness=msgspec.structs.replace(machine.harness, version=every_text, git_commit=every_text),
        distributions={"numpy": every_text, every_text: every_text},
        variables={every_text: every_text},
        withheld_variables=[every_text],
    )
    suite = msgspec.structs.replace(
        measured.suite, suite=every_text, run_id=every_text, started_at=every_text
    )
    return replace(measured, cases=cases, suite=suite, environment=environment, path=every_text)


def test_a_folder_of_figures(run: Path, tmp_path: Path) -> None:
    """GIVEN --format svg THEN every figure is a file that says what it shows."""
    done = call(str(run), "--format", "svg", "--out", str(tmp_path / "figures"))
    assert done.exit_code == 0, done.output
    files = sorted((tmp_path / "figures").iterdir())
    assert len(files) == len(every._KINDS)
    for file in files:
        tree = ET.fromstring(file.read_text())  # noqa: S314 - made here
        assert tree.find(f"{SVG}title") is not None
        described = tree.find(f"{SVG}desc")
        assert described is not None
        assert described.text


@pytest.mark.slow
def test_pictures(run: Path, tmp_path: Path) -> None:
    """GIVEN --format png THEN every figure is a picture of some width."""
    assert call(str(run), "--format", "png", "--out", str(tmp_path / "p")).exit_code == 0
    for file in (tmp_path / "p").iterdir():
        head = file.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", head[16:20])[0] > 600


def test_the_same_bytes_each_time(measured: Measured) -> None:
    """THEN the same result gives the same SVG, in fonts that vl-convert brings."""
    first, second = (dict(every.named([measured])) for _ in "ab")
    for name, chart in first.items():
        drawn = drawing.svg(chart)
        assert drawn == drawing.svg(second[name])
        assert b"Liberation Sans" in drawn


def test_hostile_names_are_text(hostile: Measured) -> None:
    """GIVEN names with markup and control characters THEN an SVG holds them as plain text."""
    for name, chart in every.named([hostile]):
        drawn = drawing.svg(chart).decode()
        tree = ET.fromstring(drawn)  # noqa: S314 - made here
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert not tags & {"script", "foreignObject", "image", "a", "use", "iframe"}
        keys = {key for element in tree.iter() for key in element.attrib}
        assert not {key for key in keys if key.lower().startswith("on") or "href" in key}
        texts = [
            text for element in tree.iter() for text in (element.text or "", element.tail or "")
        ]
        assert not obeyed(" ".join(texts).replace("\n", " ")), name
        assert "/" not in name


def test_every_format_has_its_object_and_a_suffix_of_its_own() -> None:
    formats = [load(name) for name in names()]
    assert all(isinstance(one, Format) for one in formats)
    of_one_file = [one.suffix for one in formats if one.suffix]
    assert len(set(of_one_file)) == len(of_one_file)


def test_hostile_text_in_markdown(hostile: Measured) -> None:
    """THEN Markdown has none of it as markup, and nothing that nobody sees."""
    (written,) = markdown.FORMAT.files([hostile], "x.md").values()
    parsed = MarkdownIt("commonmark").enable("table").parse(written.decode())
    tokens = [one for token in parsed for one in (token, *(token.children or ()))]
    assert {one.content for one in tokens if one.type.startswith("html")} <= {"<br>"}
    assert not {one.type for one in tokens} & {"link_open", "image"}
    assert "\u202e" not in written.decode()
    assert "\x1b" not in written.decode()


def test_hostile_text_is_seen_in_print(hostile: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    """THEN all that print is given is seen as it is, but for signs where a long word may break."""
    given: dict[str, Any] = {}

    class Compiler:
        def __init__(self, *, root: str, sys_inputs: dict[str, str], **_: object) -> None:
            given["drawn"] = list(Path(root).glob("figure-*.pdf"))
            given["said"] = json.loads(sys_inputs["contents"])

        def compile(self, **_: object) -> bytes:
            return b""

    monkeypatch.setattr(pytest.importorskip("typst"), "Compiler", Compiler)
    pdf.FORMAT.files([hostile], "x.pdf")
    texts = json.dumps(given["said"], ensure_ascii=False).replace("\u200b", "")
    assert not obeyed(texts)
    assert len(texts) > 10_000
    assert given["drawn"]


@pytest.mark.slow
def test_hostile_text_in_a_pdf(hostile: Measured) -> None:
    """THEN the report is set, and no text of it is taken for typst's markup."""
    (written,) = pdf.FORMAT.files([hostile], "x.pdf").values()
    assert written.startswith(b"%PDF-")
    assert b"/JavaScript" not in written
    assert b"/URI" not in written


@pytest.mark.slow
def test_the_same_report_each_time(run: Path, tmp_path: Path) -> None:
    """GIVEN the same result in other places THEN the PDF is the same, byte by byte."""
    for name in "ab":
        done = call(str(run), "--format", "pdf", "--out", str(tmp_path / name / "report.pdf"))
        assert done.exit_code == 0, done.output
    first, second = ((tmp_path / name / "report.pdf").read_bytes() for name in "ab")
    assert first == second
    assert b"D:20260102030505Z" in first


def test_without_the_extra(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIVEN no typst THEN one line says what to install."""
    monkeypatch.setitem(sys.modules, "typst", None)
    out = str(tmp_path / "x")
    done = CliRunner().invoke(cli, ["report", str(run), "--format", "pdf", "--out", out])
    assert isinstance(done.exception, MissingError)
    assert "pip install '.[report]'" in str(done.exception)


def test_markdown(run: Path, tmp_path: Path) -> None:
    """THEN it has the answer, the tables, and how to check them."""
    out = tmp_path / "report.md"
    assert call(str(run), "--out", str(out)).exit_code == 0
    text = out.read_text()
    assert "### matmul · 512 · f32" in text
    assert "- 1–309 calls: **numpy**" in text
    assert "all of 3 cases agree" in text
    assert "`coldwarm validate DIR`" in text


def test_nothing_measured(tmp_path: Path) -> None:
    """GIVEN a run in which every case failed THEN one line says so, and print says what failed."""
    reason = because("gpu_unavailable")
    failed = conftest.case("numpy", observations=[], status="warn", reason=reason)
    run = results.write(tmp_path / "run", [failed])
    done = CliRunner().invoke(cli, ["report", str(run), "--format", "svg"])
    assert isinstance(done.exception, UsageError)
    assert "nothing was measured" in str(done.exception)
    assert call(str(run), "--out", str(tmp_path / "report.md")).exit_code == 0


@pytest.mark.slow
def test_one_case_alone(run: Path, tmp_path: Path) -> None:
    """GIVEN the file of one case THEN it has its figures, and a report for print."""
    case = run / "cases" / "numpy_matmul_512_f32.json"
    for name in ("report.pdf", "report.md"):
        assert call(str(case), "--out", str(tmp_path / name)).exit_code == 0
    assert call(str(case), "--format", "svg", "--out", str(tmp_path / "svg")).exit_code == 0
    assert (tmp_path / "svg" / "matmul_512_f32-cold.svg").is_file()


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory, run: Path) -> Path:
    """Return a run like ``run`` in which one candidate's calls take longer."""
    cases = [conftest.case(name) for name in conftest.NAMES]
    seen = [
        msgspec.structs.replace(
            one,
            blocks=[
                msgspec.structs.replace(block, samples_s=[1.5 * s for s in block.samples_s])
                for block in one.blocks
            ],
        )
        for one in cases[1].observations
    ]
    cases[1] = msgspec.structs.replace(cases[1], observations=seen)
    return results.write(tmp_path_factory.mktemp("later") / "later", cases)


def test_comparing(run: Path, later: Path, tmp_path: Path) -> None:
    """GIVEN --compare THEN figures hold both results, and the ratio that was judged."""
    out = tmp_path / "figures"
    done = call("--compare", str(run), str(later), "--format", "svg", "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "ratios.svg" in {file.name for file in out.iterdir()}
    texts = (out / "matmul_512_f32-cold.svg").read_text()
    assert "numpy (A)" in texts
    assert "numpy (B)" in texts
    said = tmp_path / "said.md"
    assert call("--compare", str(run), str(later), "--out", str(said)).exit_code == 0
    assert "slower" in said.read_text()


@pytest.mark.slow
def test_comparing_in_print(run: Path, later: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.pdf"
    assert call("--compare", str(run), str(later), "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(b"%PDF-")


def test_comparing_takes_two(run: Path) -> None:
    done = CliRunner().invoke(cli, ["report", "--compare", str(run), "--format", "svg"])
    assert isinstance(done.exception, UsageError)
    assert "takes two results" in str(done.exception)


def test_both_sides_have_one_colour(measured: Measured) -> None:
    """GIVEN two results THEN a candidate has its colour in both, that of A dashed."""
    (pair,) = pairs(measured, measured)
    (alone,) = workloads(list(measured.cases.values()))
    for name, look in alone.looks.items():
        assert pair.looks[f"{name} (B)"] == look
        assert pair.looks[f"{name} (A)"].colour == look.colour
        assert pair.looks[f"{name} (A)"].dash != look.dash
