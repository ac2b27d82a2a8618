"""Settings are read as each version keeps them; where they cannot be read, nothing fails."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from coldwarm.frameworks import settings
from coldwarm.worker import account, candidate

if TYPE_CHECKING:
    import pytest

_UNSET = object()


def _entry(default: object, override: object) -> SimpleNamespace:
    return SimpleNamespace(default=default, user_override=override)


def _in_context(value: object) -> ContextVar[object]:
    return ContextVar("setting", default=value)


def _put(monkeypatch: pytest.MonkeyPatch, entries: dict[str, Any]) -> None:
    for name in ("torch", "torch._inductor.config", "torch._functorch.config"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = ModuleType("torch._dynamo.config")
    vars(module)["_config"] = entries
    monkeypatch.setitem(sys.modules, "torch._dynamo.config", module)


def test_what_somebody_has_set_is_read_of_newer_and_older_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {
        "as_it_comes": _entry(1, _in_context(_UNSET)),
        "in_context": _entry(1, _in_context(2)),
        "older": _entry(1, 3),
        "older_as_it_comes": _entry(1, _UNSET),
        "older_mapping": _entry({}, {"a": 1}),
    }
    _put(monkeypatch, entries)
    found = settings.found()["configured"]
    of_dynamo = {k: v for k, v in found.items() if k.startswith("torch._dynamo.config")}
    assert of_dynamo == {
        "torch._dynamo.config.in_context": "2",
        "torch._dynamo.config.older": "3",
    }


class _Unreadable(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError


def test_a_result_stands_where_settings_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    _put(monkeypatch, _Unreadable(a=1))
    asked = dict.fromkeys(("counters", "moved", "device_info", "versions"), dict)
    prepared: Any = SimpleNamespace(backend=SimpleNamespace(**asked))
    assert account.start(prepared, candidate.Phases())["settings"] is None
