"""What is declared is imported somewhere, and what is imported is declared."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

import coldwarm
from coldwarm import installing
from coldwarm.installing import MissingError, require

PACKAGE = Path(coldwarm.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
BASE = [re.split(r"[<>=\[]", one)[0] for one in PROJECT["dependencies"]]
EXTRAS = {
    name: [re.split(r"[<>=\[]", one)[0] for one in listed]
    for name, listed in PROJECT["optional-dependencies"].items()
    if name not in {"dev", "docs"}
}
COMES_WITH = {"jaxlib": "jax"}
LOADS_US = {"pytest", "IPython"}
"""Programs that load a plug-in of ours: where they are not, nobody asks for it."""
CALLED = {"scipy"}
"""What a framework imports by itself: Numba's products are those of SciPy's BLAS."""
TYPES_ALONE = {"_typeshed"}
FRAMEWORKS = {"jax", "torch", "numba"}


@cache
def distribution(module: str) -> str:
    """Return the distribution of a module, normalised."""
    found = metadata.packages_distributions().get(module, [module])
    return re.sub(r"[-_.]+", "-", found[0]).lower()


@cache
def imported() -> dict[str, set[str]]:
    """Return the modules of others by name, with the files that import them."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            elif isinstance(node, ast.Call) and node.args:
                names = _by_text(node)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "modules":
                names = _of_backend(node.value)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = _in_program(node.value)
            for name in names:
                top = name.partition(".")[0]
                if top not in {*sys.stdlib_module_names, "coldwarm", *TYPES_ALONE}:
                    found.setdefault(top, set()).add(file.relative_to(PACKAGE).as_posix())
    return found


def _by_text(call: ast.Call) -> list[str]:
    """Return the module that a call names, such as ``require("typst")``."""
    called = (
        call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    )
    first = call.args[0]
    if called not in {"require", "import_module"}:
        return []
    if isinstance(first, ast.JoinedStr):
        first = first.values[0]
    found = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return [first.value] if found and re.match(r"[A-Za-z_]\w*", first.value) else []  # type: ignore[attr-defined]


def _of_backend(value: ast.expr) -> list[str]:
    """Return the modules that a backend declares, which it imports by their names."""
    parts = value.elts if isinstance(value, ast.Tuple) else []
    return [str(one.value) for one in parts if isinstance(one, ast.Constant)]


def _in_program(text: str) -> list[str]:
    """Return the modules that a program in a text imports: ``import a, b; …``."""
    found = re.match(r"import ([\w, ]+);", text)
    return [one.strip() for one in found[1].split(",")] if found else []


def test_whatever_is_imported_is_declared() -> None:
    declared = {*BASE, *(one for listed in EXTRAS.values() for one in listed)}
    unknown = {
        module: sorted(files)
        for module, files in imported().items()
        if COMES_WITH.get(module, distribution(module)) not in declared and module not in LOADS_US
        # Programs of ours that need more say so: they are declared to be of a package.
        if not all(file.startswith(("patterns/", "claims/")) for file in files)
    }
    assert unknown == {}


@pytest.mark.parametrize("name", [*BASE, *(one for listed in EXTRAS.values() for one in listed)])
def test_whatever_is_declared_is_imported(name: str) -> None:
    assert name in {distribution(module) for module in imported()} | set(imported()) | CALLED


def test_what_an_extra_brings_is_reached_by_one_function() -> None:
    """But frameworks, which are what is measured."""
    ours = {one for extra, listed in EXTRAS.items() if extra not in FRAMEWORKS for one in listed}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            module = getattr(node, "module", None) or ""
            tops = {one.partition(".")[0] for one in ([module] if module else names)}
            assert not (isinstance(node, ast.Import | ast.ImportFrom) and tops & ours), file


@pytest.mark.parametrize(
    ("module", "extra"), [("typst", "report"), ("sigstore.oidc", "sigstore"), ("nowhere.x", "y")]
)
def test_a_package_that_is_missing_is_one_line_with_what_to_type(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = module.partition(".")[0]
    for name in [one for one in sys.modules if one.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    if extra != "y":
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingError) as refused:
        require(module, extra)
    assert str(refused.value) == f"{package} is not installed: {installing.advice(extra)}"


NOT_AT_START = ("cryptography", "jinja2", "vl_convert", "packaging", "typst", "sigstore", "scipy")


@pytest.mark.parametrize("command", [["--help"], ["--version"], ["snapshot", "--help"]])
def test_a_command_starts_without_them(command: list[str]) -> None:
    code = (
        "import contextlib, io, sys\n"
        "from coldwarm.cli import main\n"
        f"sys.argv = ['coldwarm', *{command!r}]\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main.main()\n"
        f"print([name for name in {NOT_AT_START!r} if name in sys.modules])"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


BASE_ALONE = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from coldwarm.cli import main
sys.argv = ["coldwarm", *sys.argv[1:]]
main.main()
"""
"""The command where no package of an extra is installed."""


@pytest.mark.parametrize("signed", [False, True])
def test_the_plain_install_makes_signs_and_verifies(
    tmp_path: Path,
    signed: bool,  # noqa: FBT001 - one expectation
) -> None:
    from tests.contracts import samples
    from tests.stats import results

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        names = {one.replace("-", "_") for listed in EXTRAS.values() for one in listed} - {"numpy"}
        code = BASE_ALONE.replace("{names!r}", repr(names))
        line = [sys.executable, "-c", code, "snapshot", *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    run = results.write(tmp_path / "run", [results.case(3)], samples.environment())
    folder = tmp_path / "s1"
    done = call("create", run, "--id", "s1", "--out", folder, "--offline")
    assert done.returncode == 0, done.stderr
    assert "validation_report.pdf is left out: typst is not installed" in done.stderr
    assert (folder / "report.html").is_file()
    if signed:
        from tests.publish.conftest import openssl

        openssl("genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key.pem")
        done = call("sign", folder, "--key", tmp_path / "key.pem")
        assert done.returncode == 0, done.stderr
    done = call("verify", folder)
    assert done.returncode == 0, done.stderr
