"""Two threads, each of which compiles a function of its own."""

import threading

import jax
import jax.numpy as jnp

results = {}


def worker(name, function):
    compiled = jax.jit(function)
    x = jnp.linspace(0.0, 1.0, 32)
    for _ in range(100):
        x = compiled(x)
    results[name] = x.block_until_ready()


def main():
    jobs = {"sine": lambda x: jnp.sin(x) + 0.1, "cosine": lambda x: jnp.cos(x) * 0.5}
    threads = [threading.Thread(target=worker, args=job) for job in jobs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in sorted(results):
        print(name, f"{results[name].mean():.2f}")


if __name__ == "__main__":
    main()
