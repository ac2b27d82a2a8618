"""What a cache saves a program, measured: starts with empty caches and with copies of this one."""

from __future__ import annotations

import shlex
import signal
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.caches import modes
from coldwarm.commands import measure
from coldwarm.commands.process import Ready

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coldwarm.contracts.cache import CacheCheck
    from coldwarm.runner.ledger import Listener

_LONGEST_S = 86_400.0


def measured(
    found: CacheCheck, folder: Path, command: Sequence[str], python: str, listener: Listener
) -> CacheCheck:
    """Return a check with what the cache saves, if the program has found something in it.

    Raises:
        ProgramFailedError: a start has failed, and what was measured before it is no figure.
        StorageError: a copy cannot be written.
    """
    found_by = {one.framework for one in found.lines if one.n_found}
    if not found_by or found.exit_status:
        return found
    request = measure.CommandRequest(
        commands={"program": shlex.join([python, *command])},
        ready=Ready("end", ""),
        stop=signal.SIGTERM,
        given=measure.GivenCache(folder, sorted(modes.readable()[one].name for one in found_by)),
        timeout_s=_LONGEST_S,
    )
    made, ended = measure.measure(request, listener)
    for one in made.starts:
        measure.refuse_failed(one)
    if ended is not None:
        raise ended
    return replace(found, measured=made)
