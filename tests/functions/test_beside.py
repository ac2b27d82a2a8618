"""What users run is what is measured: their allocator, and caches as their framework has them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from coldwarm.worker.loop import is_glibc

if TYPE_CHECKING:
    from tests.functions.conftest import Desk

pytestmark = pytest.mark.slow

PARTS = """
    import numpy as np

    X = np.zeros(2**18, dtype="float32")

    def parts():
        kept = [X * i for i in range(12)]
        return kept[3][:10].copy()
"""
SCRIPT = """
import statistics, time
from parts import parts
parts()
spent = []
for _ in range(100):
    begin = time.perf_counter()
    parts()
    spent.append(time.perf_counter() - begin)
print(statistics.median(spent))
"""
RUNS = ("--rounds", "3", "--max-rounds", "3")


def test_a_call_takes_what_it_takes_in_a_script_of_one_s_own(desk: Desk) -> None:
    desk.write("parts.py", PARTS)
    done = desk.bench("parts.py:parts", *RUNS)
    assert done.code == 0, done.err
    warm = desk.case("parts")["warm"]
    measured_s, kept_s = warm["call_s"]["median"], warm["kept_memory"]["call_s"]["median"]
    script = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=desk.path, capture_output=True, text=True, check=True
    )
    own_s = float(script.stdout)
    assert own_s > 3 * kept_s, "with memory kept it is many times as fast"
    assert own_s / 3 < measured_s < 3 * own_s
    assert warm["page_faults"] > 1000
    assert warm["kept_memory"]["page_faults"] < 10
    assert warm["kept_memory"]["comparison"]["verdict"] == "faster"
    shown = desk.command("show", desk.out, "--verbose").out
    assert "`bytes(2**25-2**16)`" in " ".join(shown.split())
    kinds = [(one["allocator"], one["cache_mode"]) for one in desk.case("parts")["observations"]]
    assert ("keeps_memory", "warm_process") in kinds
    assert desk.case("parts")["protocol"]["allocator"] == "as_it_is"
    planned = desk.command("plan", desk.out, "--calls", "1000")
    assert "`bytes(2**25-2**16)`" in " ".join(planned.out.split()), "and so does a plan"
    desk.assert_clean()


SMALL = """
    import jax
    import numpy as np

    X = np.ones(1000, dtype="float32")

    @jax.jit
    def small(x=X):
        for i in range(6):
            x = jax.numpy.sin(x) + i
        return x
"""


def test_filled_caches_stand_beside_what_gives_them(desk: Desk) -> None:
    pytest.importorskip("jax")
    desk.write("small.py", SMALL)
    done = desk.bench("small.py:small", "--rounds", "2", "--max-rounds", "2")
    assert done.code == 0, done.err
    case = desk.case("small")
    (filled,) = [one for one in case["cold"] if one["cache_mode"] == "cold_process_warm_cache"]
    default = filled["framework_default"]
    assert default["n_ok"] == 2
    for seen in case["observations"]:
        compiled = seen["evidence"][0]["compiles"]
        if seen["cache_settings"] == "framework_default":
            assert compiled == 1, "JAX keeps no program that compiled so quickly"
        elif seen["cache_mode"] == "cold_process_warm_cache":
            assert compiled == 0
    assert filled["seconds"]["first_call"]["median"] < default["seconds"]["first_call"]["median"]
    line = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0"
    shown = desk.command("show", desk.out, "--verbose").out
    whole = [one for one in shown.splitlines() if line in one]
    assert len(whole) == 1, "one line, to be copied"
    assert whole[0].strip().startswith("export JAX_COMPILATION_CACHE_DIR=DIR ")
    assert whole[0].endswith("=all")
    assert "only a cache directory set" in shown
    for command in (
        ("plan", desk.out, "--calls", "10", "--caches", "filled"),
        ("show", desk.out, "--verbose", "--format", "markdown"),
    ):
        again = desk.command(*command)
        assert line in again.out, (command, again.err)


ALONE = """
import resource, sys
import numpy as np
from mine import f

x = np.ones(1_000_000)
for _ in range(5):
    f(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    f(x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20)
"""


@pytest.mark.skipif(not is_glibc(), reason="another allocator gives memory back in its own way")
def test_a_kept_first_result_does_not_keep_memory_that_a_program_gives_back(desk: Desk) -> None:
    desk.write(
        "mine.py",
        """
        import numpy as np

        def f(x):
            d = x - 1.0
            return np.sqrt(d * d + 1.0) - d
        """,
    )
    command = [sys.executable, "-c", ALONE]
    alone = subprocess.run(command, cwd=desk.path, capture_output=True, text=True, check=True)
    done = desk.bench("mine.py:f", "--input", "x=f64[1000000]", "--warm-only")
    assert done.code == 0, done.err
    measured = desk.case("f")["warm"]["page_faults"]
    assert float(alone.stdout) > 100
    assert measured > 0.2 * float(alone.stdout)
