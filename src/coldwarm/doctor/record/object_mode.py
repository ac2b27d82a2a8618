"""Blocks of Numba's object mode: how often compiled code goes back to Python in each.

A block is looked up in a dict of Numba's each time that compiled code comes to it.
"""

import sys

from coldwarm.doctor.record import sites
from coldwarm.doctor.record.journal import failed
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from coldwarm.doctor.record.journal import Journal


_MEMO = "_unpickled_memo"
_BLOCK = "ObjModeLiftedWith"


class _Memo(dict):  # type: ignore[type-arg] # its keys and values are Numba's affair
    """What Numba has unpickled, counted where it is a block."""

    blocks: "ObjectModeBlocks"

    def __getitem__(self, key: "Any") -> "Any":
        found = super().__getitem__(key)
        self.blocks.add(key, found)
        return found


class ObjectModeBlocks:
    """Counts at the line of each block."""

    def __init__(self, journal: "Journal") -> None:
        """Count in ``journal``."""
        self._journal = journal
        self._slots: dict[Any, int | None] = {}

    def begin(self) -> None:
        """Count from now on. Numba is loaded."""
        space: Any = sys.modules.get("numba.core.serialize")
        if isinstance(getattr(space, _MEMO, None), dict):
            memo = _Memo(getattr(space, _MEMO))
            memo.blocks = self
            setattr(space, _MEMO, memo)

    def end(self) -> None:
        """Count no more, and leave Numba as it was."""
        space: Any = sys.modules.get("numba.core.serialize")
        memo = getattr(space, _MEMO, None)
        if isinstance(memo, _Memo) and memo.blocks is self:
            setattr(space, _MEMO, dict(memo))

    def forget(self) -> None:
        """Begin anew: in a process that was forked, whose counts are its own."""
        self._slots.clear()

    def add(self, key: "Any", found: "Any") -> None:
        """Add one to the block that was found, if it is one."""
        if key not in self._slots:
            self._slots[key] = self._slot(found)
        slot = self._slots[key]
        if slot is not None:
            self._journal.counts[slot] += 1

    def _slot(self, found: "Any") -> "int | None":
        try:
            block: Any = found[0] if type(found) is tuple and found else None
            if type(block).__name__ != _BLOCK:
                return None
            place, name = block.func_ir.loc, block.func_ir.func_id.func_qualname
            if sites.kind(place.filename) != sites.USERS:
                return None
            stack, slot = [(sites.path_of(place.filename), place.line, name)], self._journal.slot()
            if slot is not None:
                told = {"what": "object_mode", "stack": stack, "name": name, "bound": ()}
                self._journal.write("place", slot=slot, **told)
        except Exception as error:  # of another version of Numba
            failed(self._journal, error)
            return None
        return slot
