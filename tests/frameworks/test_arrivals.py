"""A framework is watched from the end of its import, by whatever way it comes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.caches import modes
from coldwarm.frameworks.settings import Places

if TYPE_CHECKING:
    from pathlib import Path

# What JaxWatch needs of JAX, and a function that compiles.
_JAX = {
    "jax/__init__.py": """
        from jax import monitoring

        def compile():
            for name in ("scalar", "event_duration_secs"):
                for listener in getattr(monitoring, f"_{name}_listeners"):
                    listener("/jax/core/compile/backend_compile_duration", 0.0, fun_name="f")
        """,
    "jax/monitoring.py": """
        import sys

        def record_event_duration_secs(event, seconds, **details):
            for listener in _event_duration_secs_listeners:
                listener(event, seconds, **details)

        _event_listeners, _event_duration_secs_listeners, _scalar_listeners = [], [], []
        register_event_listener = _event_listeners.append
        register_event_duration_secs_listener = _event_duration_secs_listeners.append
        register_scalar_listener = _scalar_listeners.append
        unregister_event_listener = _event_listeners.remove
        unregister_event_duration_listener = _event_duration_secs_listeners.remove
        unregister_scalar_listener = _scalar_listeners.remove
        sys.modules["jax._src.monitoring"] = sys.modules[__name__]
        """,
}
_PROGRAM = """
import json, sys
from coldwarm.frameworks.arrivals import Arrivals
before = set(sys.modules)
arrivals = Arrivals()
loaded = set(sys.modules) - before
arrivals.begin()
{body}
print(json.dumps({{
    "compiles": arrivals.compiles_so_far(),
    "again": arrivals.compiles_so_far(),
    "gap": arrivals.gap and arrivals.gap["code"],
    "n_watches": len(arrivals.watches),
    "counters": arrivals.counters(),
    "loaded": sorted(loaded),
    "said": globals().get("said"),
}}))
"""


def told(folder: Path, body: str) -> dict[str, Any]:
    """Return what a process told that followed imports while it ran ``body``."""
    for name, text in _JAX.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    head = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", head + _PROGRAM.format(body=textwrap.dedent(body))],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "how",
    [
        "import jax",
        "import jax.monitoring, jax",
        "jax = __import__('jax')",
        "import importlib; jax = importlib.import_module('jax')",
        "exec('import jax')",
        """
        import threading
        thread = threading.Thread(target=lambda: __import__("jax"))
        thread.start(); thread.join()
        import jax
        """,
        """
        import importlib.util
        spec = importlib.util.find_spec("jax")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        jax = importlib.util.module_from_spec(spec)
        sys.modules["jax"] = jax
        spec.loader.exec_module(jax)
        """,
        """
        class Nobody:
            def find_spec(self, name, path=None, target=None):
                return None
        sys.meta_path.insert(0, Nobody())
        import jax
        """,
    ],
)
def test_it_is_watched_from_its_first_program(tmp_path: Path, how: str) -> None:
    said = told(tmp_path, f"{textwrap.dedent(how)}\njax.compile(); jax.compile()")
    assert (said["compiles"], said["gap"], said["n_watches"]) == (2, None, 1)
    assert said["counters"]["jax"]["raw"]["programs"] == "f"


@pytest.mark.parametrize(
    "how",
    [
        """
        import importlib.machinery
        class Own:
            def find_spec(self, name, path=None, target=None):
                return importlib.machinery.PathFinder.find_spec(name, path)
        sys.meta_path.insert(0, Own())
        import jax
        """,
        "sys.meta_path.remove(arrivals); import jax",
    ],
)
def test_what_came_another_way_has_no_count(tmp_path: Path, how: str) -> None:
    said = told(tmp_path, f"{textwrap.dedent(how)}\njax.compile()")
    assert (said["compiles"], said["gap"]) == (None, "came_unwatched")
    assert said["again"] == 0, "from then on it is watched"
    counted = said["counters"]["jax"]
    assert (counted["compiles"], counted["requests"]) == (None, None)
    assert counted["reasons"]["compiles"]["code"] == "came_unwatched"


def test_listeners_that_were_removed_are_noticed_and_put_back(tmp_path: Path) -> None:
    body = """
    import jax
    jax.monitoring._event_listeners.clear()
    jax.monitoring._event_duration_secs_listeners.clear()
    jax.compile()
    """
    said = told(tmp_path, body)
    assert (said["compiles"], said["gap"], said["again"]) == (None, "listeners_removed", 0)


def test_a_framework_that_was_made_silent_has_no_count(tmp_path: Path) -> None:
    body = """
    import jax
    jax.monitoring.record_event_duration_secs = lambda *_, **__: None
    """
    said = told(tmp_path, body)
    assert (said["compiles"], said["gap"]) == (None, "listeners_removed")


def test_the_module_keeps_its_loader_and_nothing_is_loaded_for_it(tmp_path: Path) -> None:
    body = """
    import jax
    said = [type(jax.__loader__).__name__, jax.__spec__.loader is jax.__loader__]
    """
    said = told(tmp_path, body)
    assert said["said"] == ["SourceFileLoader", True]
    ours = [name for name in said["loaded"] if name.startswith("coldwarm.frameworks.")]
    assert said["loaded"] == ours


def test_an_import_that_fails_and_a_stand_in_are_no_framework(tmp_path: Path) -> None:
    body = """
    import types
    sys.modules["jax"] = None
    sys.modules["numba"] = types.ModuleType("numba")
    """
    said = told(tmp_path, body)
    assert (said["compiles"], said["gap"], said["n_watches"]) == (0, None, 0)


@pytest.mark.measures
def test_an_import_costs_next_to_nothing(tmp_path: Path) -> None:
    body = """
    from time import perf_counter
    def finding():
        begin = perf_counter()
        for _ in range(20_000):
            arrivals.find_spec("email.message", None, None)
        return perf_counter() - begin
    def looking():
        from importlib.machinery import PathFinder
        begin = perf_counter()
        for _ in range(200):
            PathFinder.find_spec("email.message", None)
        return perf_counter() - begin
    said = [min(finding() for _ in range(3)) / 20_000, min(looking() for _ in range(3)) / 200]
    """
    ours_s, pythons_s = told(tmp_path, body)["said"]
    assert ours_s < pythons_s / 3


def test_every_folder_of_a_cache_is_known_to_the_measured_side(tmp_path: Path) -> None:
    given = {}
    for name, owner in modes.owners().items():
        given.update(owner.isolate(tmp_path / name) if name != "bytecode" else {})
    folders = {name for name, value in given.items() if value.startswith(str(tmp_path))}
    assert folders == set(modes.places()["variables"])


def test_a_cache_that_was_moved_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in modes.places()["variables"]:
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("tempfile.tempdir", None)
    places = Places(modes.places())
    assert places.moved() == []
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "TORCHINDUCTOR_CACHE_DIR" / "triton"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "TMPDIR" / "of_mine"))
    assert places.moved() == [], "inside of what was given"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert places.moved() == ["NUMBA_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "tempfile.tempdir"]
