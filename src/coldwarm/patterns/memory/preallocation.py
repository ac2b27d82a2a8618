"""Turn off preallocation where a GPU is shared: JAX takes three quarters of its memory at once."""

FRAMEWORK = "jax"
MEASURES = "facts"
NEEDS = "gpu"
SYMPTOM = "another program on the same GPU runs out of memory"
MECHANISM = """
JAX reserves 75 % of a GPU's memory with its first operation, and serves all arrays from that.
Without preallocation its pool grows as arrays come, and leaves the rest to others.
"""
EXCEPTION = """
A program that has the GPU for itself keeps preallocation: its pool does not fragment, and no step
waits for the driver.
"""
DOCS = ("https://docs.jax.dev/en/latest/201/gpu-memory.html",)
ARTICLES = (
    {"article": "002", "place": "Hardware-specific considerations", "figure": "75 %"},
    {"article": "001", "place": "Memory Layout Surprises", "figure": "75 %"},
)
STATED = """By default the pool holds at least 70 % of the GPU's memory after the first small array;
without preallocation less than 10 %."""


def do():
    """Make one small array without preallocation."""
    import os
    import subprocess

    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax.numpy as jnp

    array = jnp.ones(1000).block_until_ready()
    pool = array.device.memory_stats()["pool_bytes"]
    told = subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return {"share_of_memory": pool / (float(told.stdout.splitlines()[0]) * 2**20)}


def dont():
    """Make one small array with the default settings."""
    import os
    import subprocess

    os.environ.pop("XLA_PYTHON_CLIENT_PREALLOCATE", None)
    import jax.numpy as jnp

    array = jnp.ones(1000).block_until_ready()
    pool = array.device.memory_stats()["pool_bytes"]
    told = subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return {"share_of_memory": pool / (float(told.stdout.splitlines()[0]) * 2**20)}


def holds(do, dont):
    """Say whether only the default reserves about three quarters."""
    return dont["share_of_memory"] >= 0.7 and do["share_of_memory"] < 0.1
