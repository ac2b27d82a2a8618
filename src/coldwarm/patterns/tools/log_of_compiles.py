"""Turn on the log of compiles where every call is slow: it names what is compiled, each time."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "every call is slow"
MECHANISM = """
Compiling happens inside of a call and leaves no trace in its result. With `jax_log_compiles` each
compile is a warning with the function's name, the types of its arguments and the time it took.
"""
EXCEPTION = """
In production the log is noise, and a program of many small operations fills it at its start; a
test that counts compiles is quieter.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.log_compiles.html",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = (
    {"article": "002", "place": "Essential configuration flags"},
    {"article": "002", "place": "Detection cheat sheet", "figure": "recompilation"},
)
STATED = """The log has one line `Compiling` for each of three shapes, with the function's name;
without it nothing is told of three compiles."""


def do():
    """Call a function with three shapes under the log of compiles."""
    import logging

    import jax
    import numpy as np

    entries = []

    class Keep(logging.Handler):
        def emit(self, record):
            entries.append(record.getMessage())

    logger = logging.getLogger("jax")
    logger.addHandler(Keep(logging.WARNING))
    logger.propagate = False

    @jax.jit
    def normalise(x):
        return x / x.sum()

    with jax.log_compiles():
        for length in (3, 4, 5):
            normalise(np.ones(length, dtype="float32"))
    told = [one for one in entries if "Compiling" in one and "normalise" in one]
    return {"told": len(told)}


def dont():
    """Call a function with three shapes and listen at the same place."""
    import logging

    import jax
    import numpy as np

    entries = []

    class Keep(logging.Handler):
        def emit(self, record):
            entries.append(record.getMessage())

    logger = logging.getLogger("jax")
    logger.addHandler(Keep(logging.WARNING))
    logger.propagate = False

    @jax.jit
    def normalise(x):
        return x / x.sum()

    for length in (3, 4, 5):
        normalise(np.ones(length, dtype="float32"))
    return {"told": len(entries)}


def holds(do, dont):
    """Say whether all compiles were told of by the log, and none without it."""
    return do["told"] == 3 and dont["told"] == 0
