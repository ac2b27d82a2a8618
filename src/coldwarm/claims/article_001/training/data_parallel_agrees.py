"""Data-parallel training gives the same parameters in both frameworks."""

ARTICLE = {
    "article": "001",
    "place": "Multi-GPU Training",
    "figure": "DDP and pmap",
}
QUANTITY = (
    "The parameters after five steps over two devices, against one device, in both frameworks."
)
PROTOCOL = """
A linear model takes five steps of gradient descent on 64 examples in float64: in JAX on two devices
that the host is made to have, by `shard_map` with `pmean`; in PyTorch in two processes with
`DistributedDataParallel` over gloo; and each on one device with the whole batch. All start from the
same numbers.
"""
RULE = """
Confirmed where in each framework two devices give what one gives, and both frameworks give the
same, to 1e-12 of the largest parameter. Refuted otherwise.
"""
FACTS = (
    {
        "functions": ("of_jax",),
        "variables": {
            "JAX_ENABLE_X64": "1",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        },
    },
    {"functions": ("of_torch",)},
)
DOCS = ("https://docs.jax.dev/en/latest/notebooks/shard_map.html",)
EXAMPLES, WIDTH, STEPS, RATE = 64, 4, 5, 0.1


def of_jax():
    """Train on two devices and on one."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    x = jnp.asarray(_numbers()).reshape(EXAMPLES, WIDTH)
    y = x.sum(1) + 1

    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    def local_step(w, x, y):
        # Each device's weights are its own here: those of all devices would be summed by grad.
        local = jax.lax.pcast(w, "data", to="varying")
        return w - RATE * jax.lax.pmean(jax.grad(loss)(local, x, y), "data")

    mesh = jax.make_mesh((2,), ("data",))
    split, whole = PartitionSpec("data"), PartitionSpec()
    step = jax.jit(
        jax.shard_map(local_step, mesh=mesh, in_specs=(whole, split, split), out_specs=whole)
    )
    halves = [jax.device_put(array, NamedSharding(mesh, split)) for array in (x, y)]
    two = one = jnp.zeros(WIDTH)
    for _ in range(STEPS):
        two, one = step(two, *halves), one - RATE * jax.grad(loss)(one, x, y)
    weights = {f"w{n}": float(value) for n, value in enumerate(two)}
    return {"devices": len(jax.devices()), "from_one": float(abs(two - one).max()), **weights}


def of_torch():
    """Train in two processes and in this one."""
    import json
    import subprocess
    import sys
    import tempfile

    program = "import runpy, sys; runpy.run_path(sys.argv[1])['worker'](*sys.argv[2:])"
    with tempfile.TemporaryDirectory() as folder:
        started = [
            subprocess.Popen(
                [sys.executable, "-c", program, __file__, folder, str(rank)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in (0, 1)
        ]
        told = [process.communicate(timeout=150)[0] for process in started]
    two = [json.loads(text.splitlines()[-1]) for text in told]
    one = _torch_trained(parallel=False, rows=slice(None))
    weights = {f"w{n}": value for n, value in enumerate(two[0])}
    apart = max(abs(a - b) for a, b in zip(two[0], one, strict=True))
    return {
        "processes": len(two),
        "processes_agree": two[0] == two[1],
        "from_one": apart,
        **weights,
    }


def worker(folder, rank):
    """Train in one of two processes, and print the parameters."""
    import json
    import sys

    import torch

    method = f"file://{folder}/store"
    torch.distributed.init_process_group("gloo", init_method=method, rank=int(rank), world_size=2)
    half = EXAMPLES // 2
    trained = _torch_trained(parallel=True, rows=slice(int(rank) * half, (int(rank) + 1) * half))
    sys.stdout.write(json.dumps(trained) + "\n")
    torch.distributed.destroy_process_group()


def _torch_trained(*, parallel, rows):
    import torch

    x = torch.tensor(_numbers(), dtype=torch.float64).reshape(EXAMPLES, WIDTH)
    y = x.sum(1, keepdim=True) + 1
    model = torch.nn.Linear(WIDTH, 1, bias=False, dtype=torch.float64)
    torch.nn.init.zeros_(model.weight)
    trained = torch.nn.parallel.DistributedDataParallel(model) if parallel else model
    optimiser = torch.optim.SGD(trained.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimiser.zero_grad()
        ((trained(x[rows]) - y[rows]) ** 2).mean().backward()
        optimiser.step()
    return model.weight.detach().flatten().tolist()


def _numbers():
    import math

    return [math.sin(n) for n in range(EXAMPLES * WIDTH)]


def judge(seen):
    """Decide by the rule."""
    ours, theirs = ([seen.fact(name, f"w{n}") for n in range(4)] for name in ("of_jax", "of_torch"))
    largest = max(map(abs, ours))
    apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    from_one = max(seen.fact(name, "from_one") for name in ("of_jax", "of_torch"))
    two = seen.facts("of_jax")["devices"] == 2 and seen.facts("of_torch")["processes_agree"]
    return seen.holds(two and max(apart, from_one) <= 1e-12 * largest)
