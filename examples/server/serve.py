"""A small server: answers each request with a number that JAX computes."""

from http.server import BaseHTTPRequestHandler, HTTPServer

import jax
import jax.numpy as jnp


@jax.jit
def energy(x):
    """Return the energy of a chain after fifty steps."""
    for _ in range(50):
        x = x + 0.01 * jnp.sin(jnp.roll(x, 1) - 2 * x + jnp.roll(x, -1))
    return (x**2).sum()


class Handler(BaseHTTPRequestHandler):
    """Answers each request."""

    def do_GET(self):
        """Compute, and send the number."""
        body = str(float(energy(jnp.ones(1000)))).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
