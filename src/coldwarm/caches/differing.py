"""What differs between programs of one name, as far as a cache keeps it with them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches.jax_entries import FOLDER_OPTIONS, UNNAMED
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.kept_entry import KeptEntry
    from coldwarm.contracts.reasons import Reason

_PROGRAM = ("program", "types", "code", "captured")
"""Parts that are the program itself."""
_MOST_OPTIONS, _MOST_FEATURES, _MOST_COMPARED = 5, 8, 200


def why_missed(kept: Sequence[KeptEntry], new: Sequence[KeptEntry]) -> list[Reason]:
    """Return why a new program was not found, where others of its name lay in the cache.

    Args:
        kept: Programs of its name that were there.
        new: Those of its name that the process wrote.
    """
    if not kept:
        return [because("key_absent")]
    if not new:
        return [because("key_not_compared")]
    readable = [one for one in kept if one.fault is None]
    if not readable or new[0].fault is not None:
        faults = [one.fault for one in (*kept, new[0]) if one.fault is not None]
        return [because("key_unread", *faults[:1])]
    pairs = [(one, other) for one in readable[-_MOST_COMPARED:] for other in new[:_MOST_COMPARED]]
    told = [(_rank(one, other, found := differences(one, other)), found) for one, other in pairs]
    return min(told, key=lambda each: each[0])[1]


def differences(kept: KeptEntry, now: KeptEntry) -> list[Reason]:
    """Return what differs between a program in a cache and one that was not found there.

    What was compiled with other options, or for another processor, has other operations by that,
    so that nothing is said of these; and another processor may be what an option has chosen.
    """
    if kept.components or now.components:
        return _components(kept, now)
    found = [*_of_version(kept, now), *_of_options(kept, now)]
    found = found or [*_of_processor(kept, now)]
    if found:
        return found
    if any(kept.parts.get(name) != now.parts.get(name) for name in _PROGRAM):
        return [because("key_program")]
    known = "program" in kept.parts and "program" in now.parts
    return [because("key_unknown" if known else "key_untold")]


def _components(kept: KeptEntry, now: KeptEntry) -> list[Reason]:
    """Return what differs between two programs whose keys are kept part by part.

    Another version has other settings, and other settings make another graph: the cause is told.
    """
    names = sorted({*kept.components, *now.components})
    differing = [one for one in names if kept.components.get(one) != now.components.get(one)]
    if not kept.components or not now.components or not differing:
        return [because("key_untold")]
    if any(one in _VERSIONS for one in differing):
        return [because("key_build", framework="PyTorch")]
    if _DEVICE in differing:
        before, after = (_shown(one.options.get(_DEVICE)) for one in (kept, now))
        return [because("key_processor", kept=before, now=after)]
    settings = [
        one
        for one in differing
        if one.partition("[")[0] in _SETTINGS
        or (one == _THREADS and one in kept.components.keys() & now.components.keys())
    ]
    found = []
    for name in settings[:_MOST_OPTIONS]:
        before, after = _apart(kept.options.get(name), now.options.get(name))
        found.append(because("key_setting", setting=_setting(name), kept=before, now=after))
    return found or [because("key_program")]


_VERSIONS, _DEVICE = {"torch_version", "system_info[version]"}, "system_info[device]"
_THREADS, _INDUCTOR = "cpp_runtime_thread_count", "inductor_config["
_SETTINGS = frozenset(
    ("inductor_config", "inductor_config_comms", "deterministic_algorithms_settings")
) | frozenset(("cuda_matmul_settings", "default_dtype"))
"""Parts of a key that a program or its environment sets; what is left is the program."""
_LONGEST, _BEFORE = 60, 20
"""Characters of a value that are shown, and those of them before what differs."""


def _apart(before: str | None, after: str | None) -> tuple[str, str]:
    """Return two values, of long ones the part around what differs first."""
    if before is None or after is None or max(len(before), len(after)) <= _LONGEST:
        short = ["not set" if one is None else one[:_LONGEST] for one in (before, after)]
        return short[0], short[1]
    pairs = enumerate(zip(before, after, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    begin = max(0, same - _BEFORE)
    cut = [f"{'…' * (begin > 0)}{one[begin : begin + _LONGEST]}" for one in (before, after)]
    return cut[0], cut[1]


def _is_of_graph(name: str) -> bool:
    """Say whether a part of a key is of the program itself."""
    return name.partition("[")[0] in {"gm", "example_inputs"}


def _rank(kept: KeptEntry, now: KeptEntry, found: Sequence[Reason]) -> tuple[int, ...]:
    """Return how near a kept program is: the same graph first, then what differs least."""
    if not now.components:
        return len(found), found[0].code == "key_program"
    parts = [{k: v for k, v in one.components.items() if _is_of_graph(k)} for one in (kept, now)]
    same = bool(parts[0]) and parts[0] == parts[1]
    is_build = found[0].code == "key_build"
    return (0 if same else 2 if is_build else 1), found[0].code != "key_program", len(found)


def _setting(name: str) -> str:
    """Return a part of a key as a program would set it, as far as that is known."""
    if name.startswith(_INDUCTOR):
        return f"torch._inductor.config.{name.removeprefix(_INDUCTOR).rstrip(']')}"
    return name


def _of_version(kept: KeptEntry, now: KeptEntry) -> Iterable[Reason]:
    before, after = (one.parts.get("version") for one in (kept, now))
    if before and after and before != after:
        yield because("key_version", framework=kept.owner, kept=before, now=after)


def _of_options(kept: KeptEntry, now: KeptEntry) -> Iterable[Reason]:
    names = sorted({*kept.options, *now.options})
    differing = [one for one in names if kept.options.get(one) != now.options.get(one)]
    named = [one for one in differing if not one.startswith(UNNAMED)]
    folders = [one for one in named if one in FOLDER_OPTIONS]
    for name in folders[:1]:
        before, after = (one.options.get(name, "").rpartition("/")[0] for one in (kept, now))
        if before and after:
            yield because("key_folder", kept=before, now=after)
        else:
            yield because("key_xla_caches", kept=_on(before), now=_on(after))
    for name in [one for one in named if one not in folders][:_MOST_OPTIONS]:
        before, after = (_shown(one.options.get(name)) for one in (kept, now))
        yield because("key_option", option=name, kept=before, now=after)
    if len(differing) > len(named) and not named:
        yield because("key_options", n_options=len(differing))


def _on(folder: str) -> str:
    """Say whether XLA's own caches are on, by the folder that they have."""
    return "on" if folder else "off"


def _shown(value: str | None) -> str:
    return value or "not set"


def _of_processor(kept: KeptEntry, now: KeptEntry) -> Iterable[Reason]:
    before, after = (one.parts.get("processor") for one in (kept, now))
    if before and after and before != after:
        yield because("key_processor", kept=before, now=after)
        return
    features = [set(one.parts.get("features", "").split(",")) for one in (kept, now)]
    differing = sorted(features[0] ^ features[1])
    if all(features) and differing:
        names = sorted({name.lstrip("+-") for name in differing})
        yield because("key_features", feature_names=names[:_MOST_FEATURES])
