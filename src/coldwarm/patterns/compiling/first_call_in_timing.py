"""Call a compiled function once before it serves or is timed."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "the first call is slow, all others are fast"
MECHANISM = """
`jit` compiles nothing when it is applied: the first call with arguments of new shapes traces,
compiles, and then runs. A call with arguments of the same shapes before the first that matters
takes all this out of it, which is the more the larger the program.
"""
EXCEPTION = """
Where the time to the first result is the question, the compilation belongs to it; warming up moves
the cost, and does not lower it.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/profiling.html",
    "https://docs.jax.dev/en/latest/201/jit.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Warmup before benchmarking or production",
        "figure": "100–1000×",
        "low": 100.0,
        "high": 1000.0,
    },
    {"article": "002", "place": "Detection cheat sheet", "figure": ""},
)
SECONDS = 50.0
GRID = {"layers": (2, 8, 32)}


def do(layers):
    """Answer a first request with a function that is already compiled."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def answer(network, request):
        for weights in network:
            request = jnp.tanh(request @ weights)
        return request

    network = [jnp.full((64, 64), 0.01 * n) for n in range(1, layers + 1)]
    answer(network, jnp.zeros((32, 64))).block_until_ready()
    return answer, (network, jnp.ones((32, 64)))


def dont(layers):
    """Answer a first request with a function that has yet to be compiled."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def answer(network, request):
        for weights in network:
            request = jnp.tanh(request @ weights)
        return request

    network = [jnp.full((64, 64), 0.01 * n) for n in range(1, layers + 1)]
    return answer, (network, jnp.ones((32, 64)))
