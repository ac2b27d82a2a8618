"""A journal that is not what the doctor writes is refused in one line, which says where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals

from coldwarm.doctor import watch
from coldwarm.errors import ContractError, ExitCode

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = journals.stage(1, 1.0, {"compile": 1.0})


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (without(WHOLE, "call"), "call"),
        (without(WHOLE, "own_s"), "own_s"),
        ({**WHOLE, "own_s": {"compile": "long"}}, "own_s"),
        (without(journals.call(1), "stack"), "stack"),
        ({**journals.call(1), "stack": [["/a.py", "three"]]}, "stack"),
        ({**journals.call(1), "slot": -1}, "slot"),
        (without(journals.end(1.0), "doctor_s"), "doctor_s"),
        ({"kind": "other"}, "at_s"),
        ({"kind": ["stage"], "at_s": 1.0}, "kind"),
    ],
)
def test_a_line_without_what_it_must_have_is_named(
    row: dict[str, Any], named: str, tmp_path: Path
) -> None:
    journals.written(tmp_path, journals.process(), row)
    with pytest.raises(ContractError, match=rf"1\.jsonl:2: .*`.*{named}") as raised:
        watch.read(tmp_path)
    assert raised.value.exit_code == ExitCode.FAILED
    assert len(str(raised.value).splitlines()) == 1


def test_a_process_without_its_moment_is_named(tmp_path: Path) -> None:
    journals.written(tmp_path, {"kind": "process"})
    with pytest.raises(ContractError, match=r"1\.jsonl:1: .*`at_s`"):
        watch.read(tmp_path)


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    journals.written(tmp_path, journals.process(), journals.call(1), WHOLE)
    path = tmp_path / "1.jsonl"
    path.write_text(path.read_text()[:-20])
    (seen,) = watch.read(tmp_path).processes
    assert (len(seen.rows), len(seen.calls)) == (2, 1)
