"""The command line: one file for each command."""

import os
import sys

_LITTLE_BYTES = 2**20


def _is_room_little() -> bool:
    """Say whether a file of bytecode would be cut: Python does not look whether one is whole."""
    try:
        import resource

        longest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        room = os.statvfs(__path__[0])
    except (ImportError, AttributeError, OSError):  # not on every system
        return False
    return 0 <= longest < _LITTLE_BYTES or room.f_bavail * room.f_frsize < _LITTLE_BYTES


# Before any other module of the package is loaded: bytecode that is cut would stop every command.
sys.dont_write_bytecode = sys.dont_write_bytecode or _is_room_little()
