"""A claim is tested with the functions of a file beside it, as with its own."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from coldwarm.catalogue.measure import Session
from coldwarm.catalogue.spec import claim_of
from coldwarm.runner.functions import bench

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.catalogue.verdict import Evidence

SHARED = """
class Work:
    def __init__(self, turns):
        self.turns = turns

    def summed(self):
        return sum, (range(self.turns),)

    def counted(self):
        def count(numbers):
            total = 0
            for one in numbers:
                total += one
            return total

        return count, (range(self.turns),)

    def result(self):
        return {"total": sum(range(self.turns))}


long = Work(20_000)
"""


def _judge(seen: Evidence) -> str:
    seen.ratio("counted", "summed", "warm_call")
    return seen.holds(seen.fact("result", "total") == sum(range(20_000)))


@pytest.mark.slow
def test_functions_of_a_shared_file_go_by_their_own_names(tmp_path: Path) -> None:
    (tmp_path / "_work.py").write_text(SHARED, "utf-8")
    path = tmp_path / "adding.py"
    path.write_text("", "utf-8")
    module = ModuleType("adding", "A loop adds slower than the sum.")
    module.__file__ = str(path)
    texts = dict.fromkeys(("QUANTITY", "PROTOCOL", "RULE"), "Some.")
    timed = {
        "name": "numbers",
        "candidates": ("long.summed", "long.counted"),
        "file": "_work.py",
        "regime": "warm",
        "seconds": 8.0,
    }
    facts = {"functions": ("long.result",), "file": "_work.py"}
    article = {"article": "001", "place": "Here"}
    vars(module).update(texts, ARTICLE=article, judge=_judge, BENCHES=(timed,), FACTS=(facts,))
    session = Session(tmp_path / "out", "claims", bench.run)
    (result,) = session.measure([claim_of(module)], resume=False)[0].results
    assert result.verdict == "confirmed"
    assert [one.function for one in result.sheets] == ["result"]
    assert result.figures[0].name == "warm_call of counted over summed"
