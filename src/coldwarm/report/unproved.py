"""What is said of stored values that are not what today's rules make of their samples."""

from __future__ import annotations

TERM = "not proved"
"""Before the sentence, in a list of what a result is."""


def sentence(n_values: int) -> str:
    """Return how many stored values are neither shown nor proved; empty: all are."""
    if not n_values:
        return ""
    values = "value" if n_values == 1 else "values"
    return (
        f"another version of coldwarm measured it, as it says: {n_values} stored {values} not "
        "proved and not shown, as today's rules make other ones of its samples"
    )


def rows(n_values: int) -> list[tuple[str, str]]:
    """Return the same as a row of such a list, where there is any."""
    return [(TERM, sentence(n_values))] if n_values else []
