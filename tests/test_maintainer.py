"""The maintainer's pull requests: what they change, what is missing, and what counts as right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from benchmarks import maintainer
from benchmarks.maintainer import GUARDS, PACKAGES, Check, Package, Request
from rich.console import Console

from coldwarm.runner.harness import harness_sha256

if TYPE_CHECKING:
    from pathlib import Path


def line(request: str, guard: str, index: int, code: int, **changes: Any) -> dict[str, Any]:
    made = {
        "package": "jaxopt",
        "request": request,
        "guard": guard,
        "index": index,
        "code": code,
        "build": harness_sha256()[:12],
        "verdicts": [{"ratio": 1.02}],
        "seconds": 30.0,
    }
    return {**made, **changes}


def test_the_guards_are_steps_of_the_workflow() -> None:
    steps = maintainer.guards()
    assert all(steps[guard].startswith("coldwarm bench ") for guard in GUARDS)


def test_a_pull_request_changes_one_place_and_no_package_that_is_another(tmp_path: Path) -> None:
    request = Request("more", "a.py", "    one()\n", "    two()\n", ("warm",))
    (tmp_path / "a.py").write_text("    one()\n    one()\n", encoding="utf-8")
    request.apply(tmp_path)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "    two()\n    one()\n"
    (tmp_path / "a.py").write_text("    three()\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="is not what it was"):
        request.apply(tmp_path)


def test_what_another_build_ran_is_missing_still() -> None:
    chosen = [Check("jaxopt", request, "cold") for request in PACKAGES["jaxopt"].requests]
    seen = [line("import", "cold", 0, 1), line("slower", "cold", 0, 0, build="another")]
    found = maintainer.missing(seen, chosen, 2)
    left = [(one.request.name, index) for one, index in found]
    assert sorted(left[:2]) == [("comment", 0), ("slower", 0)]
    assert sorted(left[2:]) == [("comment", 1), ("import", 1), ("slower", 1)]


def test_the_table_says_how_often_a_guard_was_right() -> None:
    seen = [
        *(line("slower", "warm", index, int(index > 0)) for index in range(10)),
        *(line("comment", "cold", index, int(index == 0)) for index in range(10)),
        line("import", "warm", 0, 3),
    ]
    console = Console(width=120, record=True, file=None)
    with console.capture() as shown:
        console.print(maintainer.table(seen))
    rows = {tuple(one.split()[1:3]): one.split()[3:] for one in shown.get().splitlines() if one}
    assert rows["slower", "warm"][:4] == ["10", "fail", "9", "9"]
    assert rows["comment", "cold"][:4] == ["10", "pass", "1", "9"]
    assert rows["import", "warm"][:4] == ["1", "pass", "0", "0"], "no answer is not right"


@pytest.mark.parametrize("package", PACKAGES.values(), ids=lambda one: one.name)
def test_each_guard_has_something_to_see_and_something_to_let_pass(package: Package) -> None:
    seen = [one.seen_by for one in package.requests]
    assert {guard for guards in seen for guard in guards} == {*GUARDS}
    assert () in seen


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    assert maintainer.read(file) == []
    file.write_text('{"request": "slower"}\n{"requ', encoding="utf-8")
    assert maintainer.read(file) == [{"request": "slower"}]
    assert file.read_text(encoding="utf-8") == '{"request": "slower"}\n', "the next one is whole"
