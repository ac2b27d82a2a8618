"""Why something was compiled again: what differs from what the same function was compiled for.

Pure: signatures in, differences out.
"""

from coldwarm.doctor.signatures import Signature, shown, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from coldwarm.doctor.signatures import Leaf

    Difference = dict[str, str]
    """``kind``, ``argument``, ``before`` and ``now``; ``fixed`` where a package has made an
    argument static because it is no array."""

_OF_LEAVES = (
    ("dtype", "dtype"),
    ("shape", "shape"),
    ("weak", "weak_type"),
    ("committed", "commitment"),
    ("sharding", "sharding"),
)
"""What is compared of an argument, and the kind of cause that it is."""
_PLACES = ("committed", "sharding")
"""Of arrays on a device; a NumPy array has none."""
_SHOWN = 60
"""Characters of a structure."""
_IRRELEVANT = ("jax_log_compiles", "jax_explain_cache_misses", "jax_compiler_detailed_logging")


def nearest(now: Signature, earlier: "Iterable[Signature]") -> "list[Difference] | None":
    """Return how a call differs from the earlier one that it is most like.

    ``None``: there was none; an empty list: nothing that is known differs.
    """
    found = [differences(before, now) for before in earlier]
    return min(reversed(found), key=_distance) if found else None


def _distance(found: "list[Difference]") -> "tuple[bool, int]":
    """Return how far apart two calls are: of other trees, the leaves are not compared."""
    return any(one["kind"] == "tree" for one in found), len(found)


def apportioned(parts: "Mapping[str, Any]", seconds: float, rest: str) -> "dict[str, float]":
    """Return the exclusive seconds of each stage of a compilation that took so many in all.

    ``rest`` is the stage of which a framework has not told.
    """
    own_s = {
        name.removesuffix("_s"): parts[name]
        for name in parts
        if name.endswith("_s") and parts[name]
    }
    own_s[rest] = own_s.get(rest, 0.0) + max(0.0, seconds - sum(own_s.values()))
    return own_s


def differences(before: Signature, now: Signature) -> "list[Difference]":
    """Return what differs between two calls."""
    static = list(_static(before.static, now.static))
    # What a package made of the user's own arguments says less than they do.
    users = [one for one in static if one["argument"] not in now.behind] if now.behind else []
    return [
        *([{**one, "fixed": "no array"} for one in users] or static),
        *_leaves(before, now),
        *_transforms(before, now),
        *_context(before.context, now.context),
    ]


def _static(before: "Mapping[str, str]", now: "Mapping[str, str]") -> "Iterator[Difference]":
    for name in [*before, *(set(now) - set(before))]:
        if before.get(name) != now.get(name):
            yield _difference("static", name, before.get(name, "absent"), now.get(name, "absent"))


def _leaves(before: Signature, now: Signature) -> "Iterator[Difference]":
    if before.trees != now.trees:
        for name in dict.fromkeys([*now.trees, *before.trees]):
            then, today = before.trees.get(name), now.trees.get(name)
            if then != today:
                yield _difference("tree", name, *_apart(then, today))
        return
    for name, leaf in now.leaves.items():
        if name in before.leaves:
            yield from _leaf(name, before.leaves[name], leaf)


def _apart(before: "str | None", now: "str | None") -> "tuple[str, str]":
    """Return two structures from a little before where they differ."""
    if before is None or now is None:
        return tuple("absent" if one is None else one[:_SHOWN] for one in (before, now))  # type: ignore[return-value] # of two
    pairs = enumerate(zip(before, now, strict=False))
    differ = next((at for at, (a, b) in pairs if a != b), min(len(before), len(now)))
    begin = 0 if max(len(before), len(now)) <= _SHOWN else max(0, differ - _SHOWN // 3)
    return _part(before, begin), _part(now, begin)


def _part(whole: str, begin: int) -> str:
    part = whole[begin : begin + _SHOWN]
    return ("…" if begin else "") + part + ("…" if begin + _SHOWN < len(whole) else "")


def _leaf(name: str, before: "Leaf", now: "Leaf") -> "Iterator[Difference]":
    for key, kind in _OF_LEAVES:
        if key in _PLACES and (key not in before or key not in now):
            continue
        if before.get(key) == now.get(key):
            continue
        if key in {"dtype", "shape"}:
            yield _difference(kind, name, shown(before), shown(now))
        elif key == "weak":
            yield _difference(kind, name, _typed(before), _typed(now))
        else:
            yield _difference(kind, name, str(before[key]), str(now[key]))


def _typed(leaf: "Leaf") -> str:
    return f"{shown(leaf)} ({'weakly' if leaf['weak'] else 'strongly'} typed)"


def _transforms(before: Signature, now: Signature) -> "Iterator[Difference]":
    if before.transforms != now.transforms:
        words = [", ".join(one.transforms) or "none" for one in (before, now)]
        yield _difference("transform", "", *words)


def _context(before: "Mapping[str, Any]", now: "Mapping[str, Any]") -> "Iterator[Difference]":
    for name, value in now.items():
        if before.get(name, value) != value and name not in _IRRELEVANT:
            yield _difference("context", name, text(before[name]), text(value))


def _difference(kind: str, argument: str, before: str, now: str) -> "Difference":
    return {"kind": kind, "argument": argument, "before": before, "now": now}
