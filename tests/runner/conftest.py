"""Cases and observations for the tests of the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples

from coldwarm.contracts.observation import Judgement
from coldwarm.contracts.reasons import because
from coldwarm.runner import case_list
from coldwarm.runner.case_list import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.case_list import Case

    Observe = Callable[..., Observation]


@pytest.fixture
def case() -> Case:
    """Return NumPy's small matrix product."""
    return case_list.choose(Options(cases=("numpy_matmul_512_f32",)))[0]


@pytest.fixture
def observe(case: Case) -> Observe:
    """Return a function that makes an observation of the case."""

    def make(
        mode: CacheMode = "cold_process_cold_cache", round_: int = 0, **fields: object
    ) -> Observation:
        usual = {
            "case": case.id,
            "round": round_,
            "judgements": {mode: Judgement(proved=True, reason=because("start_not_judged"))},
        }
        return samples.observation(mode, **{**usual, **fields})

    return make
