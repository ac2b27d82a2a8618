"""The pytest plug-in as it is installed: from a built wheel, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
Run = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment that has the wheel, and the frameworks of this."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    # What is installed here comes after the wheel; this checkout's own .pth file is not read.
    others = sysconfig.get_paths()["purelib"]
    (packages / "others.pth").write_text(f"{others}\n", encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return place / "bin" / "python"


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Callable[..., Run]:
    """Return what runs pytest there on the text of a test file."""

    def run(text: str, *options: str, **variables: str) -> Run:
        (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
        command = [str(installed), "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py"]
        ours = ("PYTHONPATH", "PYTEST_")  # it is no worker of the pytest that runs this test
        env = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | variables
        return subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
        )

    return run


def test_the_wheel_names_the_plugin(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("entry_points.txt")]
        text = archive.read(name).decode()
    assert "[pytest11]\ncoldwarm = coldwarm.integrations.pytest_plugin" in text


UNUSED = """
import sys

def test_nothing_is_loaded():
    ours = {name for name in sys.modules if name.split(".")[0] == "coldwarm"}
    assert ours == {"coldwarm", "coldwarm.integrations", "coldwarm.integrations.pytest_plugin"}
    assert sys.modules["coldwarm"].__file__.startswith(sys.prefix), "not that of the wheel"
    assert not {"jax", "numpy", "msgspec", "rich", "torch", "numba"} & set(sys.modules)
"""


def test_the_plugin_is_found_and_loads_nothing_where_it_is_not_asked(
    run: Callable[..., Run],
) -> None:
    done = run(UNUSED, "-W", "error")
    assert done.returncode == 0, done.stdout
    assert "coldwarm-0" in done.stdout  # among the plugins that pytest names


GUARDED = """
import jax, jax.numpy as jnp, pytest

@jax.jit
def step(x):
    return x * 2

@pytest.mark.max_compiles(1)
def test_lengths():
    for n in range(3):
        step(jnp.ones(5 + n))

def test_a_new_batch(coldwarm):
    step(jnp.ones(60))
    with coldwarm.assert_no_recompile(step):
        step(jnp.ones(61))
"""


def test_guards_hold_with_the_real_framework(run: Callable[..., Run]) -> None:
    pytest.importorskip("jax")
    done = run(GUARDED, "--coldwarm-bill", "--strict-markers")
    assert "2 failed" in done.stdout, done.stdout
    assert "`x` is f32[7]; it was f32[6], and before f32[5]" in done.stdout
    assert "`x` is f32[61]; it was f32[60], and before f32[5], f32[6], f32[7]" in done.stdout
    assert "coldwarm: seconds of compiling" in done.stdout


MISSING = """
import pytest

@pytest.mark.max_compiles(0)
def test_without_jax(coldwarm):
    with coldwarm.assert_no_recompile():
        pass
"""


def test_a_session_without_any_framework_goes_on(run: Callable[..., Run], tmp_path: Path) -> None:
    for name in ("jax", "torch", "numba"):  # as if it were not installed
        (tmp_path / f"{name}.py").write_text("raise ImportError\n", encoding="utf-8")
    done = run(MISSING, "--coldwarm-bill", "-W", "error")
    assert done.returncode == 0, done.stdout
    assert "0.00 s  in 1 test" in done.stdout


BESIDE = """
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return x * 2

def test_timed(benchmark, coldwarm):
    x = step(jnp.ones(4))
    with coldwarm.assert_no_recompile(step):
        benchmark(step, x)
"""


def test_both_hold_beside_pytest_benchmark(run: Callable[..., Run], tmp_path: Path) -> None:
    pytest.importorskip("jax")
    done = run(BESIDE, "--coldwarm-bill", "--benchmark-json=timed.json", "--benchmark-disable-gc")
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "timed.json").is_file()
    assert "test_it.py::test_timed" in done.stdout.partition("seconds of compiling")[2]


MEASURED = """
import pathlib, sys, textwrap
import numpy as np

def test_starts(coldwarm):
    found = coldwarm.assert_ttfr("job:f", below=200.0, processes=5)
    assert found.n_processes == 5

def test_calls(coldwarm):
    assert coldwarm.warm(np.sin, np.ones(100)).warm.call_s.median > 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="fresh processes are measured on Linux")
def test_workers_save_one_file_that_is_compared(
    run: Callable[..., Run], tmp_path: Path, installed: Path
) -> None:
    job = "import numpy as np\n\ndef f():\n    return np.ones(3).sum()\n"
    (tmp_path / "job.py").write_text(job, encoding="utf-8")
    first = run(MEASURED, "-n", "2", "--coldwarm-save", "base.json")
    assert first.returncode == 0, first.stdout + first.stderr
    second = run(MEASURED, "--coldwarm-save", "now.json", "--coldwarm-compare", "base.json")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "B against A" in second.stdout
    assert "job:f/cold_process_cold_cache/first_result" in second.stdout
    command = [str(installed), "-m", "coldwarm", "compare", "base.json", "now.json", "--verbose"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "test_it.py::test_calls sin/warm_process/call" in done.stdout
