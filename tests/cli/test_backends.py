"""What is installed, and why not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from coldwarm.cli.main import cli
from coldwarm.runner import harness

if TYPE_CHECKING:
    import pytest


def test_what_is_missing_is_named_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = harness._Availability(modules={}, versions={}, programs={}, gpus=0)
    monkeypatch.setattr(harness, "probe", lambda *_, **__: nothing)
    rows = json.loads(CliRunner().invoke(cli, ["backends", "--json"]).output)
    reasons = {row["candidate"]: row["reason"] for row in rows if not row["available"]}
    assert reasons["jax_jit_cpu"] == "missing_dependency: jax"
