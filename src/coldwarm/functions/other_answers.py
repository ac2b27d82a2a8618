"""Answers to other data: those of the reference, written down, and a candidate's held against them.

The data are the same in every process of a bench: made of its seed. Where they were declared, they
are drawn anew, and a candidate answers for them or is wrong. What was given is changed, and may be
what a function does not promise to take: there it is wrong where its answer stays as it was,
though that of the reference does not, and what differs otherwise is told.
"""

import os
import time

from coldwarm import wire
from coldwarm.functions import values
from coldwarm.functions.arguments import in_order
from coldwarm.functions.other_calls import raised
from coldwarm.wire import TYPE_CHECKING, because
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np

    from coldwarm.functions.varying import Other

    Arrays = Sequence[np.ndarray[Any, Any]]
    Noise = Callable[[Callable[[], tuple[Any, ...]], Arrays], Mapping[str, Any]]

_INDEX = "index.json"
_MOST_ALONE = 4
"""Up to how many arguments each is varied alone, too."""
_ENOUGH_S = 8.0
"""For all calls of the reference, after which its process is no more waited for."""
_now_s = time.perf_counter  # as it was before the user's program


def _numbers(seed: int) -> float:
    """Return which other data a bench of this seed has."""
    return (seed * 2_654_435_761 + 40_503) % 1_000_003 / 1_000_003


def write(
    answer_path: str,
    call: "Callable[[tuple[Any, ...]], Any]",
    others: "Callable[[float], Other]",
    seed: int,
    noise: "Noise",
) -> None:
    """Write the answers to other data beside the usual answer.

    All arguments are others, then each one alone; what is not answered twice alike, or not at all,
    is left out. ``noise`` tells of an answer to arguments how far its numbers move.
    """
    folder = answer_path + gate.OTHERS
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - the style of the measured side
    began_s = _now_s()
    written: list[dict[str, Any]] = []
    places = others(_numbers(seed)).places
    alone = [[place] for place in places] if 1 < len(places) <= _MOST_ALONE else []
    for some in [places, *alone] if places else []:
        before_s = _now_s()
        path = os.path.join(folder, f"{len(written)}.npz")  # noqa: PTH118 - as above
        try:
            inputs = _write(path, call, lambda: others(_numbers(seed)), some, noise)
        except Exception:  # noqa: BLE001, S112 - not every function takes other data
            continue
        if inputs:
            written.append({"inputs": inputs, "file": f"{len(written)}.npz"})
            _index(folder, written)
        if 2 * _now_s() - began_s - before_s > _ENOUGH_S:
            return


def _write(
    path: str,
    call: "Callable[[tuple[Any, ...]], Any]",
    made: "Callable[[], Other]",
    places: "Sequence[int]",
    noise: "Noise",
) -> "list[int]":
    """Write the answer to other data in these places; return which inputs they are; empty: none."""
    answer, again = (_answered(call, made().only(places)) for _ in range(2))
    if not _same(answer, again):
        return []
    other = made()
    save(path, answer, noise(lambda: made().only(places), answer))
    save(f"{path.removesuffix('.npz')}-given.npz", _data(other, places))
    return [other.order.index(place) for place in places]


def _data(other: "Other", places: "Sequence[int]") -> "list[np.ndarray[Any, Any]]":
    """Return what is in the arguments, in the order of the inputs."""
    return values.OutputValues(in_order(other.only(places), other.order)).arrays


def _index(folder: str, written: "Sequence[Any]") -> None:
    path = os.path.join(folder, _INDEX)  # noqa: PTH118 - as above
    with open(path + ".part", "wb") as file:  # noqa: PTH123 - as above
        file.write(wire.encode({"answers": list(written)}))
    os.replace(path + ".part", path)  # noqa: PTH105 - as above


def _answered(
    call: "Callable[[tuple[Any, ...]], Any]", arguments: "tuple[Any, ...]"
) -> "list[np.ndarray[Any, Any]]":
    return values.on_host(call(arguments))


def _same(one: "Sequence[np.ndarray[Any, Any]]", other: "Sequence[np.ndarray[Any, Any]]") -> bool:
    return bool(one) and values.digest(list(one)) == values.digest(list(other))


def save(
    path: str,
    arrays: "Sequence[np.ndarray[Any, Any]]",
    moves: "Mapping[str, np.ndarray[Any, Any]] | None" = None,
) -> None:
    """Write arrays into a file, and how far their numbers move."""
    import numpy as np

    named: dict[str, Any] = dict(moves or {})
    with open(path + ".part", "wb") as file:  # noqa: PTH123 - as above
        np.savez(file, *arrays, **named)
    os.replace(path + ".part", path)  # noqa: PTH105 - as above


def checked(
    reference_path: "str | None",
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    others: "Callable[[float], Other]",
    job: "Mapping[str, Any]",
) -> "dict[str, Any]":
    """Hold a candidate's answers to other data against those of the reference.

    Returns the last check as ``gate``, or that of the first answer that differs; ``None``: there
    was none, and ``unchecked`` says why. ``unlike``: it differs, and is not held to be wrong.
    """
    found: dict[str, Any] = {"gate": None, "unlike": None, "unchecked": None}
    if reference_path is None or not job["repeats"]:
        why = "not_asked" if reference_path is None else "answers_differ"
        return {**found, "unchecked": because(why)}
    known = _known(reference_path)
    if not known:
        return {**found, "unchecked": because("no_other_answers")}
    unlike: dict[str, Any] = {}
    try:
        for one in known:
            other = others(_numbers(job["seed"]))
            places = [other.order[n] for n in one["inputs"] if n < len(other.order)]
            path = f"{reference_path}{gate.OTHERS}/{one['file']}"
            alike = len(places) == len(one["inputs"]) and set(places) <= set(other.places)
            if not alike or not _given_alike(path, other, places):
                return {**found, "unchecked": because("other_data_differ")}
            answer = _answered(call, other.only(places))
            verdict = gate.check(answer, path, job["tolerance"], finite=False)
            if verdict["passed"]:
                found["gate"] = verdict
            elif _same(answer, _answered(call, usual())):
                reason = _of("ignores_arguments", other.named(places))
                return {**found, "gate": {**verdict, "reason": reason}}
            elif not unlike:
                unlike = _unlike(verdict, other.named(places), strict=job["strict"])
    except Exception as error:  # noqa: BLE001 - not every function takes other data
        return {**found, "unchecked": raised(error)}
    return {**found, **unlike}


def _given_alike(path: str, other: "Other", places: "Sequence[int]") -> bool:
    """Say whether the data are those of the reference, each in types of their own."""
    given = f"{path.removesuffix('.npz')}-given.npz"
    held = gate.check(_data(other, places), given, _ALIKE, finite=False)
    return bool(held["passed"])


def _known(reference_path: str) -> "list[Any]":
    """Return which answers of the reference there are."""
    path = os.path.join(reference_path + gate.OTHERS, _INDEX)  # noqa: PTH118 - as above
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            found: list[Any] = wire.decode_bare(file.read())["answers"]
    except OSError:
        return []
    return found


_ALIKE = 1e-2
"""Up to what error two candidates have the same data, in types of their own."""


def _unlike(verdict: "dict[str, Any]", named: "list[str]", *, strict: bool) -> "dict[str, Any]":
    """Return what is said of an answer that differs, though not because its data are ignored."""
    code = "wrong_for_others" if strict else "unlike_for_others"
    why = {**_of(code, named), "parts": [verdict["reason"]]}
    return {"gate": {**verdict, "reason": why}} if strict else {"gate": None, "unlike": why}


def _of(code: str, named: "list[str]") -> "dict[str, Any]":
    return {"code": code, "values": {"argument_names": named}}
