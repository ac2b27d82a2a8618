"""Text of others is shown and obeyed by nothing: terminals, Markdown, JSON, workflows."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts import samples
from tests.started import coldwarm
from tests.stats import results

from coldwarm.cli import _tree
from coldwarm.contracts.base import is_name
from coldwarm.contracts.environment import Cpu, Frequency
from coldwarm.contracts.reasons import because
from coldwarm.errors import printable
from coldwarm.report import markdown
from coldwarm.report.shown import PlainConsole, json_text, line

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]0;title\x07",
    "\x9b31mred",
    "back\x08\x08\x08\x7f",
    "over\rwritten",
    "two\nlines",
    "\n::error::it failed",
    "::set-output name=x::y",
    "x::add-mask::secret",
    "##[error]it failed",
    "##vso[task.complete result=Failed;]",
    "##teamcity[buildStatus status='FAILURE']",
    "abc\u202edcb\u202c",
    "\u2066isolated\u2069",
    "\u200fright\u200eleft\u061c",
    "next\u2028line\u2029paragraph\x85nel",
    "zero\u200b\u200c\u200d\ufeff\u2060width",
    "soft\u00ad\u034fjoined\ufe0f\U000e0041tag",
    "[red]markup[/red][link=http://evil.example]x[/link]",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) ![y](http://evil.example/z.png)",
    "| a | b |\n|---|---|\n`code` **bold** # heading",
    "https://evil.example www.evil.example",
    "&#x202e;&lt;script&gt; $x$",
    "- item", "1. item", "=====",
)  # fmt: skip
COMMAND = re.compile(r"^\s*::[\w-]|##\w*\[", re.MULTILINE)


def obeyed(text: str) -> list[str]:
    """Return what of a printed text something would obey, or nobody could see."""
    odd = [c for c in text if c != "\n" and not c.isprintable()]
    return odd + COMMAND.findall(text)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run every foreign text of which is hostile, but for its names."""
    text = " ".join(HOSTILE)
    machine = samples.environment(
        cpu=Cpu(model=text, architecture=text, frequency=Frequency()), variables={text: text}
    )
    reason = because("exception", error=text, text=text)
    failed = samples.observation(
        results.EMPTY, round=9, order=99, status="failed", reason=reason, stderr_tail=text
    )
    one = results.case(1, protocol_data_layout=text)
    two = results.case(2, case="b", candidate="numpy", status="failed", reason=reason)
    two = msgspec.structs.replace(two, observations=[*two.observations, failed])
    three = results.case(3, case="c", n=1)
    return results.write(tmp_path / "run", [one, two, three], machine)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "RUN"],
        ["show", "RUN", "--format", "markdown"],
        ["show", "RUN", "--format", "svg"],
        ["show", "RUN", "--json"],
        ["plan", "RUN", "--calls", "9", "--caches", "empty"],
        ["plan", "RUN", "--calls", "9", "--caches", "empty", "--json"],
        ["compare", "RUN", "RUN"],
        ["compare", "RUN", "RUN", "--allow", "failed", "--verbose"],
        ["compare", "RUN", "RUN", "--allow", "failed", "--verbose", "--format", "markdown"],
        ["compare", "RUN", "RUN", "--allow", "failed", "--json"],
        ["validate", "RUN"],
        ["validate", "RUN", "--json"],
    ],
    ids=" ".join,
)
def test_what_artifacts_hold_is_obeyed_by_nothing(run: Path, arguments: list[str]) -> None:
    named = results.on(run, arguments)
    done = coldwarm(*named)
    assert done.returncode in {0, 2, 3, 4}, done.stderr
    assert "Traceback" not in done.stderr
    assert obeyed(done.stdout + done.stderr) == []
    if "--json" in arguments and done.stdout:
        json.loads(done.stdout)
    if "markdown" in arguments:
        assert_no_markup(done.stdout)


def assert_no_markup(text: str) -> None:
    """Look for what Markdown would read as HTML, a link or an image, outside of code."""
    without_code = re.sub(r"`[^`\n]*`", "", text).replace("<br>", "")
    assert not re.search(r"(?<!\\)<", without_code)
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[", without_code)
    assert not re.search(r"\w://|\bwww\.", without_code)
    assert not re.search(r"(?<!\\)&", without_code)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("command", ["show", "plan", "compare", "validate", "cases", "run"])
def test_refusals_obey_nothing(tmp_path: Path, command: str, text: str) -> None:
    """What is refused is named in the refusal: a path, an option, a field, its value."""
    usual = {"plan": ["--calls", "9"], "compare": [text]}
    options = {"cases": "--case", "run": "--case"}
    arguments = [options[command], text] if command in options else [text]
    done = CliRunner().invoke(_tree.cli, [command, *arguments, *usual.get(command, [])])
    assert done.exception is not None
    code, said = printed([command, *arguments, *usual.get(command, [])])
    assert code in {2, 3}
    assert obeyed(said) == []
    file = tmp_path / "x.json"
    for document in (
        {"schema_version": text},
        {text: 1},
        {"schema_version": "coldwarm.protocol.v1", text: 1},
        {"schema_version": "coldwarm.suite_result.v2", "suite": text},
    ):
        file.write_text(json.dumps(document, ensure_ascii=False))
        code, said = printed([command, str(file), *usual.get(command, [])])
        assert code in {2, 3}
        assert obeyed(said) == []


def printed(arguments: list[str]) -> tuple[int, str]:
    """Return the code of a command and what it prints, by the way that every command goes."""
    both = io.StringIO()
    before = sys.argv, sys.stdout, sys.stderr
    sys.argv, sys.stdout, sys.stderr = ["coldwarm", *arguments], both, both
    try:
        code = _tree.run()
    finally:
        sys.argv, sys.stdout, sys.stderr = before
    return code, both.getvalue()


@given(st.text())
def test_any_text_is_one_line_that_is_obeyed_by_nothing(text: str) -> None:
    shown = printable(text)
    assert "\n" not in shown
    assert obeyed(shown) == []
    assert printable(shown) == shown
    out = io.StringIO()
    PlainConsole(file=out, width=40).print(line(text))
    assert obeyed(out.getvalue()) == []
    assert_no_markup(markdown._escaped(text))
    assert "\n" not in markdown._escaped(text)


@given(st.dictionaries(st.text(), st.text()))
def test_json_stays_the_same_json(document: dict[str, Any]) -> None:
    shown = json_text(json.dumps(document, indent=2, ensure_ascii=False))
    assert json.loads(shown) == document
    assert obeyed(shown) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_what_reaches_a_console_unescaped_is_escaped_there(text: str) -> None:
    out = io.StringIO()
    console = PlainConsole(file=out, width=30, force_terminal=False)
    console.print(text)
    console.print(text, style="bold", soft_wrap=True)
    assert [c for c in out.getvalue() if c != "\n" and not c.isprintable()] == []


@pytest.mark.parametrize(
    "name",
    [
        *("", "a\n", "\x1b[31m", "a\u202eb", "a\u200bb", "::error::x", "a\x00", "a\u2028b"),
        *("x" * 201, "\ufeffa", "a\u00adb", "a\u034fb", "a\x85b", "a\x7f", "a\U000e0041"),
        "a\u3164",
    ],
)
def test_names_hold_no_such_character(name: str) -> None:
    assert not is_name(name)
    for field in ("case", "workload", "candidate", "backend"):
        document = msgspec.to_builtins(samples.case()) | {field: name}
        with pytest.raises(msgspec.ValidationError, match=rf"\$\.{field}"):
            msgspec.convert(document, type(samples.case()))


@pytest.mark.parametrize("name", ["a", "jax_jit_cpu_matmul_512_f32", "größer", "模型", "f@HEAD~1"])
def test_names_of_any_language_are_names(name: str) -> None:
    assert is_name(name)
