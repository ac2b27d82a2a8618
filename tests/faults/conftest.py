"""Laboratories for runs that misbehave."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from tests.faults import lab
from tests.faults.lab import PLUGIN, Lab
from tests.faults.plans import ONE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the plug-ins that misbehave are installed."""
    sys.path.insert(0, str(PLUGIN))
    try:
        classes: dict[str, str] = import_module("faulty_backend").CLASSES
    finally:
        sys.path.remove(str(PLUGIN))
    return lab.install(
        tmp_path_factory.mktemp("site"),
        "coldwarm_faults",
        {
            "coldwarm.backends": {name: f"faulty_backend:{kind}" for name, kind in classes.items()},
            "coldwarm.workloads": {
                "small": "faulty_workload",
                "no_reference": "faulty_reference",
            },
        },
    )


@pytest.fixture(scope="session")
def one_run(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """Return the folder of a complete run of one process: it is copied, never changed."""
    made = Lab(tmp_path_factory.mktemp("one-run"), [site])
    assert made.run(*ONE).code == 0
    made.assert_no_orphans()
    return made.out


@pytest.fixture
def bench(tmp_path: Path, site: Path) -> Iterator[Lab]:
    """Return a laboratory of this test's own; nothing of it may outlive the test."""
    made = Lab(tmp_path, [site])
    yield made
    made.assert_no_orphans()
