"""What the measuring of a pattern is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.patterns import FACTS, patterns
from coldwarm.runner.catalogue.patterns import asked

if TYPE_CHECKING:
    from coldwarm.catalogue.patterns import PatternSpec

BENCHES = [spec for spec in patterns().values() if spec.measures != FACTS]


@pytest.mark.parametrize("spec", BENCHES, ids=lambda spec: spec.id)
def test_only_what_decides_is_measured(spec: PatternSpec) -> None:
    modes = asked(spec).options.cache_modes
    if spec.measures == "warm_call_s":
        assert modes == ("warm_process",)
    else:
        assert modes == ("cold_process_cold_cache",)
