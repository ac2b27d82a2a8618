"""A run to export, and commands called as a user calls them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.cli import main
from coldwarm.contracts.environment import Cpu, CpuCache, Frequency
from coldwarm.contracts.observation import CacheEvidence
from coldwarm.contracts.reasons import because
from coldwarm.integrations import figures
from coldwarm.runner import ledger, recompute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.integrations.figures import Exported

    Done = subprocess.CompletedProcess[str]
    Call = Callable[..., Done]

FAILED = "numpy_matmul_512_f32"
BATCH = 4


def _batched(seen: Observation) -> Observation:
    """Return a process of batches, whose first samples are slow, with its processor time."""
    first, *others = seen.blocks
    slow = [5 * value for value in first.samples_s[:3]] + first.samples_s
    blocks = [
        msgspec.structs.replace(one, batch=BATCH, samples_s=values, cpu_s=BATCH * sum(values))
        for one, values in [(first, slow), *((one, one.samples_s) for one in others)]
    ]
    return msgspec.structs.replace(seen, blocks=blocks)


def measured() -> CaseResult:
    """Return a case of six processes, one of which is rejected."""
    told = ledger.limitations(["jax", "bytecode"], results.MODES)
    case = results.case(1, protocol_caches=["jax"], limitations=told)
    empty = CacheEvidence(owner="jax", files_before=0, hits=0, requests=1, compiles=1)
    seen = [msgspec.structs.replace(_batched(one), evidence=[empty]) for one in case.observations]
    # Its cache mode is contradicted: an entry was there before.
    found = CacheEvidence(owner="jax", files_before=3, hits=1, requests=1, compiles=0)
    seen[2] = msgspec.structs.replace(seen[2], evidence=[found])
    return msgspec.structs.replace(case, observations=seen)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a good case, and one whose answer is wrong."""
    wrong = results.case(2, case=FAILED, status="failed", reason=because("correctness_gate"))
    cpu = Cpu(
        model="A CPU",
        architecture="x86_64",
        usable_cores=2,
        logical_cores=2,
        caches=[CpuCache(level=1, kind="data", size_bytes=32768)],
        frequency=Frequency(governor="performance", max_hz=2_500_000_000),
    )
    return results.write(tmp_path / "run", [measured(), wrong], samples.environment(cpu=cpu))


@pytest.fixture
def made(run: Path) -> Exported:
    """What of that run is exported."""
    return figures.exported(recompute.read(run))


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Run ``coldwarm`` in a folder of the test's, in this process."""

    def called(*arguments: object, folder: Path = tmp_path) -> Done:
        line = ["coldwarm", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.chdir(folder)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(line, ended.value.code, printed.out, printed.err)

    return called
