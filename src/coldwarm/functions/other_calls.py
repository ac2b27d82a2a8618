"""Calls in other circumstances than those of the timed loop, and answers to other data.

The loop calls again and again with the same arguments, at once, and without the collector of
Python. A program calls with others, when it has them, and with the collector. After the last
block some calls are made as there. Nothing here changes a figure.

Answers to other data: those of the reference are written down, and a candidate's held against them.
The data are the same in every process of a bench: made of its seed. Where they were declared, they
are drawn anew, and a candidate answers for them or is wrong. What was given is changed, and may be
what a function does not promise to take: there it is wrong where its answer stays as it was,
though that of the reference does not, and what differs otherwise is told.
"""

import os
import time

from coldwarm import wire
from coldwarm.functions import values
from coldwarm.functions.outlier_call import OTHER_S, PAUSED_S, is_outlier
from coldwarm.wire import TYPE_CHECKING, because
from coldwarm.worker import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np

    from coldwarm.functions.varying import Other

    Arrays = Sequence[np.ndarray[Any, Any]]
    Noise = Callable[[Callable[[], tuple[Any, ...]], Arrays], Mapping[str, Any]]


_TRIES = 3
"""Calls of a kind, the quickest of which counts: a disturbance makes a call slower, never quicker.
One that is not far slower is enough."""
_MORE_TRIES, _MORE_TRIES_S = 10, 0.5
"""How many at most on a busy machine, which disturbs short calls one after another, and in how many
seconds."""
_APART = (5**0.5 - 1) / 2
"""Number whose multiples lie far apart, however many there are."""
_BEFORE = 2
_USUAL, _USUAL_S, _LONGEST_S = 5, 0.2, 1.0
_LONGEST_OTHER_S = 20.0
"""Up to how long a usual call may be for one with other data beside it."""
_PAUSE_S = 0.1
_COLLECTED, _COLLECTED_S, _FEWEST_COLLECTED = 5000, 0.2, 40
_now_ns, _sleep = time.perf_counter_ns, time.sleep  # as they were before the user's program
_OF_PROCESS = _now_ns() % 1_000_003 / 1_000_003
"""Different in each process: what an earlier one has kept on disk is not found again."""
_PLAIN = {bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset}
"""Types that can be told apart by how they are written."""
_FIGURES = ("other_arguments_s", "paused_s", "collecting_s")


def _number(which: float) -> float:
    """Return which other data a try has, of this process alone."""
    return (_OF_PROCESS + which * _APART) % 1.0


def measure(  # noqa: PLR0913 - how a call is made, each by name
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    others: "Callable[[float], Other]",
    compiles: "Callable[[], int | None]",
    *,
    frozen: bool = False,
    own: bool = False,
) -> "dict[str, Any]":
    """Make the calls; return seconds of one call of each kind, or the reason why there are none.

    Args:
        call: Calls with these arguments, waits, and returns the result.
        usual: Gives the arguments of the timed loop.
        others: Gives arguments of the same shapes and types with other data, for each number
            others.
        compiles: Counts the programs compiled so far; ``None``: unknown.
        frozen: Whether the loop has hidden what was there from the collector.
        own: Whether nobody has given the arguments: they are what the function has by itself.
    """
    usual_s = _usual_s(call, usual)
    tried = _Tried(call, usual, others, compiles, usual_s)
    found: dict[str, Any] = {"usual_s": usual_s, **dict.fromkeys(_FIGURES)}
    reasons: dict[str, Any] = {}
    kinds: dict[str, tuple[Callable[[], float], float]] = {
        "paused_s": (lambda: _paused_s(call, usual, usual_s), _LONGEST_S),
        "other_arguments_s": (tried.least_s, _LONGEST_OTHER_S),
        "collecting_s": (lambda: _collecting_s(call, usual, frozen=frozen), _LONGEST_S),
    }
    for name, (kind, longest_s) in kinds.items():
        if usual_s > longest_s:
            reasons[name] = because("calls_too_long", call_s=usual_s)
            continue
        try:
            found[name] = kind()
        except _NoFigureError as error:
            reasons[name] = error.coded_reason
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            reasons[name] = _raised(error)
    return {**found, **tried.told(own=own), "reasons": reasons}


def _raised(error: Exception) -> "dict[str, Any]":
    """Return an exception of a user's function as a reason."""
    text = (str(error).splitlines() or [""])[0][:200]
    return because("exception", error=type(error).__name__, text=text)


class _NoFigureError(Exception):
    """There is no figure; ``coded_reason`` says why."""

    def __init__(self, reason: "dict[str, Any]") -> None:
        """Keep the reason, as it goes over the pipe."""
        super().__init__(reason["code"])
        self.coded_reason = reason


def _once_s(call: "Callable[[tuple[Any, ...]], Any]", arguments: "tuple[Any, ...]") -> float:
    begin_ns = _now_ns()
    call(arguments)
    return (_now_ns() - begin_ns) / 1e9


def _usual_s(
    call: "Callable[[tuple[Any, ...]], Any]", usual: "Callable[[], tuple[Any, ...]]"
) -> float:
    """Return the median of a few calls right after one another, without the collector."""
    import gc

    seconds: list[float] = []
    collects = gc.isenabled()
    gc.disable()
    try:
        while len(seconds) < _USUAL and sum(seconds) < _USUAL_S:
            seconds.append(_once_s(call, usual()))
    finally:
        if collects:
            gc.enable()
    return sorted(seconds)[len(seconds) // 2]


def _paused_s(
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    usual_s: float,
) -> float:
    """Return the quickest of some calls after a pause; one that is not far slower is enough."""
    least_s = float("inf")
    for _ in range(_TRIES):
        arguments = usual()
        _sleep(_PAUSE_S)
        least_s = min(least_s, _once_s(call, arguments))
        if not is_outlier(least_s, usual_s, PAUSED_S):
            break
    return least_s


class _Tried:
    """Calls with other data: in all arguments at once, without those that a call does not take."""

    def __init__(
        self,
        call: "Callable[[tuple[Any, ...]], Any]",
        usual: "Callable[[], tuple[Any, ...]]",
        others: "Callable[[float], Other]",
        compiles: "Callable[[], int | None]",
        usual_s: float,
    ) -> None:
        self._call, self._usual, self._others = call, usual, others
        self._compiles, self._usual_s = compiles, usual_s
        self._seconds: dict[tuple[int, ...], list[float]] = {}
        """By where the other data were, what calls took."""
        self._had: set[tuple[int, str]] = set()
        """Contents of each place in such a call: a second one with it may find its answer."""
        self._varied: list[str] = []
        self._not_varied: dict[str, dict[str, Any]] = {}
        self._changed: bool | None = None

    def told(self, *, own: bool) -> "dict[str, Any]":
        """Return which arguments had other data, why others had none, and what the answer did.

        ``own``: an answer that stays as it was may be of data elsewhere, so nothing was tried.
        """
        varied, not_varied = self._varied, self._not_varied
        if own and not self._changed:
            not_varied = {**not_varied, **dict.fromkeys(varied, because("answer_stays"))}
            varied = []
        return {"varied": varied, "not_varied": not_varied, "answer_changed": self._changed}

    def least_s(self) -> float:
        """Return the quickest of some calls in which nothing was compiled.

        Raises:
            NoFigureError: there was none.
        """
        other = self._others(_number(0))
        self._not_varied = {name: because("unvaried") for name in other.unchanged}
        if not other.places:
            raise _NoFigureError(because("unvaried" if other.names else "no_other_arguments"))
        taken, why = other.places, self._why_not(other, other.places)
        if why is not None:
            other = self._others(_number(0.25))
            alone = {place: self._why_not(other, [place], why) for place in taken}
            taken = [place for place, fault in alone.items() if fault is None]
            refused = {other.names[p]: fault for p, fault in alone.items() if fault is not None}
            self._not_varied.update(refused)
            if not taken or not refused:
                self._not_varied.update(dict.fromkeys(other.named(taken), why))
                raise _NoFigureError(why)
        self._varied = other.named(taken)
        return self._quickest_s(taken)

    def _why_not(
        self, other: "Other", places: "list[int]", had: "dict[str, Any] | None" = None
    ) -> "dict[str, Any] | None":
        """Return why a call with other data in these places shows nothing; ``None``: it does.

        ``had``: why, where a call has had these data before.
        """
        try:
            if not self._time(other, places):
                return had
        except _NoFigureError as error:
            return error.coded_reason
        except Exception as error:  # noqa: BLE001 - not every function takes other data
            return _raised(error)
        return None

    def _time(self, other: "Other", places: "list[int]") -> bool:
        """Time a call with other data in these places, unless a call had one of them before.

        Returns whether there was a call.

        Raises:
            NoFigureError: something was compiled meanwhile.
        """
        keys = {(place, one) for place in places if (one := _content(other.flat[place]))}
        if self._had & keys:
            return False
        self._had |= keys
        for _ in range(_BEFORE):  # so that what sleeps while arguments are made is awake
            self._call(self._usual())
        before = self._compiles()
        arguments = other.only(places)
        begin_ns = _now_ns()
        out = self._call(arguments)
        call_s = (_now_ns() - begin_ns) / 1e9
        after = self._compiles()
        if before is None or after != before:
            n_programs = 0 if before is None or after is None else after - before
            raise _NoFigureError(because("compiled_in_window", n_programs=n_programs))
        self._seconds.setdefault(tuple(places), []).append(call_s)
        self._look(out)
        return True

    def _quickest_s(self, places: "list[int]") -> float:
        """Return the quickest of calls with other data in these places; it may be the only one."""
        known = self._seconds.setdefault(tuple(places), [])
        # Where nothing tells data from others, a further try may have those of an earlier one.
        known_apart = all(_content(self._usual()[place]) for place in places)
        for which in range(_MORE_TRIES if known_apart else _TRIES):
            tried = len(known) >= _TRIES and sum(known) > _MORE_TRIES_S
            enough = known and (tried or self._usual_s > _LONGEST_S)
            if enough or (known and not is_outlier(min(known), self._usual_s, OTHER_S)):
                break
            try:
                self._time(self._others(_number(which + 0.5)), places)
            except _NoFigureError:  # those that compile tell nothing beside others
                if not known:
                    raise
        if not known:
            raise _NoFigureError(because("unvaried"))
        return min(known)

    def _look(self, out: "Any") -> None:
        """See whether the answer is another one than usual."""
        if self._changed:
            return
        other, usual = _digest(out), _digest(self._call(self._usual()))
        if other is not None and usual is not None:
            self._changed = other != usual


def _content(one: "Any") -> str:
    """Return what tells data from others; empty: nothing does, and they are taken for others."""
    if type(one) in _PLAIN:
        return repr(one)
    if values.is_array(one):
        return values.digest([one])
    from pickle import dumps

    try:
        return dumps(one).hex()
    except Exception:  # noqa: BLE001 - whatever the classes of a user raise
        return ""


def _digest(out: "Any") -> "str | None":
    """Return what tells a result from others; ``None``: nothing in it can be compared."""
    try:
        answer = values.OutputValues(out)
        return answer.digest() if answer.arrays else None
    except Exception:  # noqa: BLE001 - whatever the attributes of a user's class raise
        return None


def _collecting_s(
    call: "Callable[[tuple[Any, ...]], Any]",
    usual: "Callable[[], tuple[Any, ...]]",
    *,
    frozen: bool,
) -> float:
    """Return what a call costs on average in Python's collector, callbacks of others included.

    Raises:
        NoFigureError: the program has switched it off.
    """
    import gc

    if not gc.isenabled():
        raise _NoFigureError(because("collector_off"))
    if frozen:
        gc.unfreeze()
    gc.collect()
    spent_ns, begun_ns, n_calls = 0, 0, 0

    def begin(phase: str, _info: object) -> None:
        nonlocal begun_ns
        if phase == "start":
            begun_ns = _now_ns()

    def end(phase: str, _info: object) -> None:
        nonlocal spent_ns
        if phase == "stop":
            spent_ns += _now_ns() - begun_ns

    gc.callbacks.insert(0, begin)
    gc.callbacks.append(end)
    start_ns = _now_ns()
    try:
        while n_calls < _COLLECTED:
            call(usual())
            n_calls += 1
            over_s = (_now_ns() - start_ns) / 1e9
            if over_s > (_COLLECTED_S if n_calls >= _FEWEST_COLLECTED else _LONGEST_S):
                break
    finally:
        gc.callbacks[:] = [one for one in gc.callbacks if one not in {begin, end}]
    return spent_ns / n_calls / 1e9


_INDEX = "index.json"
_MOST_ALONE = 4
"""Up to how many arguments each is varied alone, too."""
_ENOUGH_S = 8.0
"""For all calls of the reference, after which its process is no more waited for."""
_now_s = time.perf_counter  # as it was before the user's program


def _numbers(seed: int) -> float:
    """Return which other data a bench of this seed has."""
    return (seed * 2_654_435_761 + 40_503) % 1_000_003 / 1_000_003


def write_answers(
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
    os.makedirs(folder, exist_ok=True)
    began_s = _now_s()
    written: list[dict[str, Any]] = []
    places = others(_numbers(seed)).places
    alone = [[place] for place in places] if 1 < len(places) <= _MOST_ALONE else []
    for some in [places, *alone] if places else []:
        before_s = _now_s()
        path = os.path.join(folder, f"{len(written)}.npz")
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
    save_arrays(path, answer, noise(lambda: made().only(places), answer))
    save_arrays(f"{path.removesuffix('.npz')}-given.npz", _data(other, places))
    return [other.order.index(place) for place in places]


def _data(other: "Other", places: "Sequence[int]") -> "list[np.ndarray[Any, Any]]":
    """Return what is in the arguments, in the order of the inputs."""
    given = other.only(places)
    return values.OutputValues([given[place] for place in other.order]).arrays


def _index(folder: str, written: "Sequence[Any]") -> None:
    path = os.path.join(folder, _INDEX)
    with open(path + ".part", "wb") as file:
        file.write(wire.encode({"answers": list(written)}))
    os.replace(path + ".part", path)


def _answered(
    call: "Callable[[tuple[Any, ...]], Any]", arguments: "tuple[Any, ...]"
) -> "list[np.ndarray[Any, Any]]":
    return values.on_host(call(arguments))


def _same(one: "Sequence[np.ndarray[Any, Any]]", other: "Sequence[np.ndarray[Any, Any]]") -> bool:
    return bool(one) and values.digest(list(one)) == values.digest(list(other))


def save_arrays(
    path: str,
    arrays: "Sequence[np.ndarray[Any, Any]]",
    moves: "Mapping[str, np.ndarray[Any, Any]] | None" = None,
) -> None:
    """Write arrays into a file, and how far their numbers move."""
    import numpy as np

    named: dict[str, Any] = dict(moves or {})
    with open(path + ".part", "wb") as file:
        np.savez(file, *arrays, **named)
    os.replace(path + ".part", path)


def check_answers(
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
        return {**found, "unchecked": _raised(error)}
    return {**found, **unlike}


def _given_alike(path: str, other: "Other", places: "Sequence[int]") -> bool:
    """Say whether the data are those of the reference, each in types of their own."""
    given = f"{path.removesuffix('.npz')}-given.npz"
    held = gate.check(_data(other, places), given, _ALIKE, finite=False)
    return bool(held["passed"])


def _known(reference_path: str) -> "list[Any]":
    """Return which answers of the reference there are."""
    path = os.path.join(reference_path + gate.OTHERS, _INDEX)
    try:
        with open(path, "rb") as file:
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
