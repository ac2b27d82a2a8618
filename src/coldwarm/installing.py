"""How coldwarm is installed today; what errors and reports say, and what the documentation does."""

SOURCE = "."
"""What pip is given: ``.`` in a clone, and ``coldwarm`` once that name is on PyPI."""
_WHERE = {".": "in a clone of coldwarm, "}


def command(*extras: str) -> str:
    """Return the command, such as ``pip install '.[jax,numba]'``."""
    return f"pip install '{SOURCE}[{','.join(extras)}]'" if extras else f"pip install {SOURCE}"


def advice(*extras: str) -> str:
    """Return the command and where to type it."""
    return f"{_WHERE.get(SOURCE, '')}{command(*extras)}"
