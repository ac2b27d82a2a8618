"""What a user names on the command line of a bench, and what is said of what is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coldwarm.errors import UsageError
from coldwarm.masking import masked
from coldwarm.runner.functions import targets
from coldwarm.runner.functions.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.@+-]{0,8}", fullmatch=True)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@pytest.fixture
def fit(tmp_path: Path) -> Path:
    path = tmp_path / "fit.py"
    path.touch()
    return path


def one_line(caught: pytest.ExceptionInfo[UsageError]) -> str:
    text = str(caught.value)
    assert text
    assert "\n" not in text
    return text


def refusal(function: Callable[..., object], given_to: object) -> str | None:
    """Return what is said against something; ``None``: nothing."""
    try:
        function(given_to)
    except UsageError as error:
        return str(error)
    return None


def test_a_function_of_a_file(fit: Path) -> None:
    found = targets._parse(f"{fit}:Model.fit")
    assert (found.label, found.module, found.path, found.name) == ("", "fit", fit, "Model.fit")
    assert found.text == f"{fit}:Model.fit"
    labelled = targets._parse(f"mine={fit}:fit")
    assert (labelled.label, labelled.path) == ("mine", fit)
    assert targets._parse(str(fit)).name == "", "the functions that it marks"


def test_a_file_in_a_folder_with_an_equals_sign(tmp_path: Path) -> None:
    path = tmp_path / "a=b" / "fit.py"
    path.parent.mkdir()
    path.touch()
    assert targets._parse(f"{path}:fit").path == path


def test_a_function_of_a_module() -> None:
    found = targets._parse("new=numpy.linalg:inv")
    assert (found.label, found.module, found.path, found.name) == (
        "new",
        "numpy.linalg",
        None,
        "inv",
    )
    assert found.text == "numpy.linalg:inv"


@given(LABELS, st.lists(NAMES, min_size=1, max_size=3), NAMES)
def test_every_module_and_label_is_taken_as_written(
    label: str, parts: list[str], name: str
) -> None:
    module = ".".join(parts)
    if module.endswith(".py"):
        return
    found = targets._parse(f"{label}={module}:{name}")
    assert (found.label, found.module, found.name) == (label, module, name)


@given(st.text(max_size=30))
def test_what_is_no_target_is_refused_in_one_line(text: str) -> None:
    said = refusal(targets._parse, text)
    assert said is None or (said and "\n" not in said)
    if said is None:
        assert targets._parse(text).name


@pytest.mark.parametrize("text", ["", "fit", "numpy", ":fit", "numpy:", "no where:fit", "a-b:fit"])
def test_what_names_no_function(text: str) -> None:
    with pytest.raises(UsageError, match=r"names no function; write FILE\.py:NAME") as caught:
        targets._parse(text)
    one_line(caught)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there; name a Python file"):
        targets._parse(f"{tmp_path}/no.py:fit")


SHAPES = st.lists(st.lists(st.integers(0, 64), max_size=3).map(tuple), min_size=1, max_size=3)


@given(NAMES, st.sampled_from(targets._DTYPES), SHAPES, st.none() | st.sampled_from(targets._FILLS))
def test_an_array_as_it_is_written(
    name: str, dtype: str, shapes: list[tuple[int, ...]], fill: str | None
) -> None:
    written = ";".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
    text = f"{name}={dtype}{written}" + (f":{fill}" if fill else "")
    assert targets._parse_input(text) == {
        "name": name,
        "kind": "array",
        "dtype": dtype,
        "shapes": [list(shape) for shape in shapes],
        "fill": fill or "normal",
    }


@given(
    NAMES,
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10),
)
def test_a_value_as_python_writes_it(name: str, value: float | str) -> None:
    found = targets._parse_input(f"{name}={value!r}")
    assert found == {"name": name, "kind": "value", "value": value}
    assert type(found["value"]) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f32[3]", "has no name"),
        ("=f32[3]", "has no name"),
        ("1x=f32[3]", "has no name"),
        ("x=", "is no array and no value"),
        ("x=f32", "is no array and no value"),
        ("x=hello", "is no array and no value"),
        ("x=f32[3][4]", "is no array and no value"),
        ("x=f32[3];", "is no array and no value"),
        ("x=f32[3];;[4]", "is no array and no value"),
        ("x=f32[3]:", "is no array and no value"),
        ("x=f32[3", "is no array and no value"),
        ("x=nan", "is no array and no value"),
        ("x=1e999", "is no finite number"),
        ("x=None", "is a NoneType"),
        ("x=[1, 2]", "is a list"),
        ("x=1+2j", "is a complex"),
        ("x=f32[-1]", r"\[-1\] is no shape"),
        ("x=f32[a]", r"\[a\] is no shape"),
        ("x=f32[2 3]", r"\[2 3\] is no shape"),
        ("x=f32[1.5]", r"\[1.5\] is no shape"),
        ("x=f32[65536,65536]", r"more than 2\^31 elements"),
        ("x=float32[3]", "'float32'.*f32"),
        ("x=f23[3]", "'f23'.*f32"),
        ("x=f32[3]:one", "'one'.*ones"),
    ],
)
def test_what_is_no_input(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        targets._parse_input(text)
    one_line(caught)


@given(st.text(max_size=20))
def test_any_text_is_an_input_or_refused_in_one_line(text: str) -> None:
    said = refusal(targets._parse_input, text)
    assert said is None or (said and "\n" not in said)
    if said is None:
        assert targets._parse_input(text)["name"].isidentifier()


def test_an_input_given_twice_is_refused() -> None:
    assert [one["name"] for one in targets.parse_inputs(["y=1", "x=2"])] == ["y", "x"]
    with pytest.raises(UsageError, match="--input x is given twice"):
        targets.parse_inputs(["x=1", "y=2", "x=3"])


def made(module: str, name: str, label: str = "") -> Target:
    return Target(label, module, None, name)


def labels(*found: Target) -> list[str]:
    return [target.label for target in targets.labelled(found)]


def test_a_label_is_the_name_or_the_file_or_has_a_number() -> None:
    assert labels(made("a", "f"), made("a", "g")) == ["f", "g"]
    assert labels(made("a", "fit"), made("b.c", "fit")) == ["a", "c"]
    assert labels(made("a", "fit"), made("a", "fit")) == ["fit", "fit_2"]
    assert labels(made("a", "fit", "mine"), made("b", "fit")) == ["mine", "fit"]
    assert labels(made("a", "fit", "a b")) == ["a_b"]


@given(st.lists(st.builds(made, NAMES, NAMES, st.just("") | LABELS), min_size=1, max_size=6))
@example([made("a", "f", "A@A.AA")])
@example([made("a", "f", "A@A.AA"), made("a", "f", "A@A.AA")])
def test_no_two_candidates_have_one_label(found: list[Target]) -> None:
    said = refusal(targets.labelled, found)
    private = any(masked(one.label) != one.label for one in found)
    assert said is None or "two candidates are called" in said or private
    if said is None:
        given_to = labels(*found)
        assert len(set(given_to)) == len(found)
        assert all(given_to)


def test_an_interpreter_for_one_or_for_all(tmp_path: Path) -> None:
    for name in (".old", "new"):
        place = tmp_path / name / "bin"
        place.mkdir(parents=True)
        (place / "python").symlink_to(sys.executable)
    old, new = tmp_path / ".old", tmp_path / "new" / "bin" / "python"
    two = targets.labelled([made("a", "f"), made("a", "g")])

    one = targets._with_pythons(two, [f"g:{old}"])
    assert [target.python for target in one] == [sys.executable, str(old / "bin" / "python")]
    same = targets._with_pythons(two, [str(new)])
    assert {target.python for target in same} == {str(new)}, "a link is not followed"
    both = targets._with_pythons(two, [str(old), str(new)])
    assert [target.label for target in both] == ["f@old", "f@new", "g@old", "g@new"]
    mixed = targets._with_pythons(two, [str(old), str(new), f"g:{new}"])
    assert [target.label for target in mixed] == ["f@old", "f@new", "g"]


ENVIRONMENTS = (
    ".venv",
    "jax-0.10.dev",
    "new.io",
    "py3.12",
    "numpy-2.ai",
    "a.b.org",
    "me.app",
    "x86.cloud",
    "v1.0.tech",
    "rc.site",
    "torch.dev",
    "lab.science",
)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_label_that_coldwarm_makes_never_looks_private(name: str, tmp_path: Path) -> None:
    for folder in (name, "other"):
        (tmp_path / folder / "bin").mkdir(parents=True)
        (tmp_path / folder / "bin" / "python").symlink_to(sys.executable)
    given_to = [str(tmp_path / name), str(tmp_path / "other")]
    found = targets._with_pythons([made("a", "f", "f")], given_to)
    assert len({target.label for target in found}) == len(given_to)
    assert all(masked(target.label) == target.label for target in found)


@pytest.mark.parametrize("path", ["", "nowhere", "f:nowhere", "zz:/bin/sh", "/etc/passwd"])
def test_what_is_no_interpreter(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no such interpreter; name") as caught:
        targets._with_pythons([made("a", "f", "f")], [path])
    one_line(caught)


def test_an_interpreter_on_the_path() -> None:
    found = targets._with_pythons([made("a", "f", "f")], ["python3"])
    assert Path(found[0].python).name == "python3"
    assert Path(found[0].python).is_absolute()


def test_variables_for_one_or_for_all() -> None:
    two = targets.labelled([made("a", "f"), made("a", "g")])
    found = targets._with_variables(two, ["A=1", "g:A=2", "f:B=x=y:z", "C="])
    assert [dict(target.variables) for target in found] == [
        {"A": "1", "B": "x=y:z", "C": ""},
        {"A": "2", "C": ""},
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A", "write NAME=VALUE"),
        ("=1", "write NAME=VALUE"),
        ("f:=1", "write NAME=VALUE"),
        ("h:A=1", "candidate.*'h'"),
    ],
)
def test_what_is_no_variable(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        targets._with_variables([made("a", "f", "f")], [text])
    one_line(caught)
