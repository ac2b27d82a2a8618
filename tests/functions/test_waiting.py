"""What has to be waited for is found quickly, and waited for by the way to it."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.functions import kinds, unfinished

if TYPE_CHECKING:
    from collections.abc import Callable


class Small:
    """One of many results."""

    def __init__(self, number: float) -> None:
        """Keep it."""
        self.number = number


def many(count: int) -> list[Small]:
    return [Small(float(n)) for n in range(count)]


def _calls(monkeypatch: pytest.MonkeyPatch, name: str, look: Callable[[], object]) -> int:
    seen = []
    plain = getattr(kinds, name)

    def counting(*given: Any, **named: Any) -> Any:
        seen.append(given)
        return plain(*given, **named)

    monkeypatch.setattr(kinds, name, counting)
    look()
    return len(seen)


@pytest.mark.parametrize("name", ["_array_framework", "_is_lazy", "_is_opaque"])
def test_a_class_is_judged_once_for_all_its_values(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    result = many(500)
    assert _calls(monkeypatch, name, lambda: unfinished.refuse_unknown(result)) < 10
    assert _calls(monkeypatch, name, lambda: unfinished._waiters(result)) < 10


def test_nothing_is_looked_into_where_no_framework_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("jax", "torch", "cupy", "numba.cuda"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert _calls(monkeypatch, "_array_framework", lambda: unfinished._waiters(many(5))) == 0


def test_bytes_in_memory_are_finished() -> None:
    unfinished.refuse_unknown([io.BytesIO(b"ab"), io.StringIO("ab")])


OF_JAX = """
import jax, jax.numpy as jnp
from coldwarm.functions import unfinished

class Holder:
    def __init__(self, inner):
        self.inner = inner

class Slotted:
    __slots__ = ("inner",)
    def __init__(self, inner):
        self.inner = inner

made = lambda n: Holder({"a": [Slotted(jnp.ones(3) * k) for k in range(n)]})
walks = []
plain = unfinished._Arrays.__init__
def counted(self, value):
    walks.append(value)
    plain(self, value)
unfinished._Arrays.__init__ = counted
(waiter,) = unfinished._waiters(made(2))
del walks[:]
waiter(made(2))
assert not walks, "by its path"
waited = []
jax.block_until_ready = waited.extend
waiter(made(3))
assert len(walks) == 1 and len(waited) == 3, "one more array"
waiter(Holder({"b": [jnp.ones(2)]}))
assert len(walks) == 2 and len(waited) == 4, "elsewhere"
waiter(Holder({"a": 1.0}))
assert len(walks) == 3
(waiter,) = unfinished._waiters(Holder({1: {1}, 2: frozenset(), 3: lambda y=jnp.ones(2): y}))
waiter(Holder(jnp.ones(2)))
assert len(waited) == 5
unfinished.refuse_unknown(jax.tree_util.Partial(jnp.add, jnp.ones(3)))
try:
    unfinished.refuse_unknown(jax.tree_util.Partial(jnp.add))
except unfinished.UnfinishedError:
    print("done")
"""

OF_NUMBA = """
import numba
from coldwarm.functions import unfinished
numbers = numba.typed.List([1.0, 2.0])
names = numba.typed.Dict()
names[1] = 2.0
unfinished.refuse_unknown([numbers, names])
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("framework", "program"), [("jax", OF_JAX), ("numba", OF_NUMBA)])
def test_results_of_a_framework(framework: str, program: str) -> None:
    pytest.importorskip(framework)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr


def test_a_path_leads_to_the_same_place_in_another_value() -> None:
    step = (list.__getitem__, 1, list.__len__, 2)
    assert unfinished._at([[0, 1], [2, 3]], (step, step)) == 3
    for other in ([[0, 1]], [0, (1, 2)], None):
        with pytest.raises(unfinished._MOVED):
            unfinished._at(other, (step, step))


CHANGING = """
import sys
import numpy as np
import jax, jax.numpy as jnp
from coldwarm.functions import unfinished

jax.devices()
a = jnp.asarray(np.random.default_rng(0).normal(size=(700, 700)))
work = jax.jit(lambda a: jnp.linalg.matrix_power(a / 40, 40))
work(a).block_until_ready()
kinds = {
    "alone": lambda n: 0.0 if n < 2 else work(a),
    "host": lambda n: np.zeros(3) if n < 2 else work(a),
    "none": lambda n: None if n < 2 else work(a),
    "list": lambda n: [0.0] if n < 2 else [work(a)],
    "dict": lambda n: {"x": 0.0} if n < 2 else {"x": work(a)},
    "pair": lambda n: (0.0, "a") if n < 2 else (work(a), "a"),
    "nested": lambda n: [[0.0]] if n < 2 else [[work(a)]],
    "longer": lambda n: [] if n < 2 else [work(a), work(a)],
    "every other": lambda n: work(a) if n % 2 else 1.0,
    "first": lambda n: work(a) if n < 2 else [0.0, work(a)],
    "tuple to list": lambda n: (work(a),) if n < 2 else [work(a)],
}
for name, f in kinds.items():
    wait = unfinished.waiter()
    for n in range(6):
        out = f(n)
        wait(out)
        late = [one for one in jax.tree.leaves(out) if isinstance(one, jax.Array)]
        assert all(one.is_ready() for one in late), (name, n)
print(len(kinds))
"""


def test_results_of_changing_types_are_waited_for() -> None:
    pytest.importorskip("jax")
    ended = subprocess.run(
        [sys.executable, "-c", CHANGING], check=True, capture_output=True, text=True, timeout=120
    )
    assert int(ended.stdout) > 10
