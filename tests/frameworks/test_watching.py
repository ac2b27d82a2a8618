"""A framework is watched from ``install`` to ``uninstall``, and is then as it was."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from coldwarm.backends.numpy import NumpyBackend
from coldwarm.frameworks import base
from coldwarm.frameworks.jax import JaxWatch
from coldwarm.frameworks.numba import NumbaWatch
from coldwarm.frameworks.torch import CompileWatch
from coldwarm.wire import because


def put(monkeypatch: pytest.MonkeyPatch, name: str, **names: object) -> ModuleType:
    """Let a module be loaded that has these names."""
    module = ModuleType(name)
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_a_version_is_told_by_what_is_loaded_and_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, "with_one", __version__="1.2")
    put(monkeypatch, "without_one")
    assert base.versions("with_one", "without_one", "not_loaded") == {"with_one": "1.2"}


KINDS = {
    "event_listener": "register_event_listener",
    "event_duration_listener": "register_event_duration_secs_listener",
    "scalar_listener": "register_scalar_listener",
}


@pytest.mark.parametrize("public", [True, False])
def test_listeners_of_jax_go_whatever_its_version_calls_that(
    monkeypatch: pytest.MonkeyPatch, *, public: bool
) -> None:
    registered: list[Any] = []
    told = dict.fromkeys(KINDS.values(), registered.append)
    public_names = {f"unregister_{kind}": registered.remove for kind in KINDS}
    older = {f"_unregister_{kind}_by_callback": registered.remove for kind in KINDS}
    monitoring = SimpleNamespace(**told, **(public_names if public else {}))
    put(monkeypatch, "jax", monitoring=monitoring)
    put(monkeypatch, "jax._src.monitoring", **({} if public else older))
    watch = JaxWatch()
    watch.install()
    assert registered == [watch.on_event, watch.on_duration, watch.on_scalar]
    watch.uninstall()
    watch.uninstall()
    assert registered == []


def test_listeners_of_jax_that_somebody_has_cleared_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered: list[Any] = []
    told = dict.fromkeys(KINDS.values(), registered.append)
    forget = {f"unregister_{kind}": registered.remove for kind in KINDS}
    put(monkeypatch, "jax", monitoring=SimpleNamespace(**told, **forget))
    put(monkeypatch, "jax._src.monitoring")
    watch = JaxWatch()
    watch.install()
    registered.clear()
    watch.uninstall()


def test_the_hook_of_torch_is_put_back_and_what_was_there_is_still_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    utils = put(monkeypatch, "torch._dynamo.utils", record_chromium_event_internal=seen.append)
    before: Any = vars(utils)["record_chromium_event_internal"]
    watch = CompileWatch()
    watch.begin_call()
    event = {"name": "dynamo", "ph": "B"}
    vars(utils)["record_chromium_event_internal"](event)
    assert seen == [event]
    assert watch.parts()["trace_s"] is not None
    watch.uninstall()
    assert vars(utils)["record_chromium_event_internal"] is before
    assert watch.parts()["trace_s"] is None


def test_a_torch_that_has_not_loaded_its_compiler_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "torch._dynamo.utils", raising=False)
    watch = CompileWatch()
    watch.install()
    watch.begin_call()
    assert watch.compiles_so_far() == 0
    assert "torch._dynamo.utils" not in sys.modules


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="Numba is not installed")
def test_the_initialisation_of_numba_is_as_it_was() -> None:
    import numba  # noqa: F401 - what is watched
    from numba.core import event
    from numba.core.base import BaseContext

    def state() -> tuple[Any, list[int]]:
        return BaseContext.refresh, list(map(len, event._registered.values()))

    watch = NumbaWatch()
    watch.install()
    watch.uninstall()
    before = state()
    watch.install()
    assert state() != before
    watch.uninstall()
    assert state() == before


def test_what_another_framework_compiles_in_a_plain_backend_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in base.WATCHES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    backend = NumpyBackend("cpu")
    assert (backend.compiles_so_far(), backend.uncounted()) == (0, None)
    put(monkeypatch, "numba")
    assert backend.compiles_so_far() is None
    assert backend.uncounted() == because("came_unwatched", framework="numba")
