"""The rows of a data set, kept as columns: of a hundred thousand samples, rows would be slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]


class Columns(Sequence["Row"]):
    """Rows that are made when they are asked for."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """``columns``: of one length, by the name of the field."""
        self.columns = columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        """Return a row, or several."""
        if isinstance(place, slice):
            return Columns({name: column[place] for name, column in self.columns.items()})
        return {name: column[place] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""
        names = list(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def __eq__(self, other: object) -> bool:
        """Say whether the rows are the same."""
        return isinstance(other, Columns) and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment] # its columns are lists
