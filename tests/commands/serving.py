"""A server: prints a line, opens a port, answers with what JAX computes, and leaves a file."""

import http.server
import sys
from pathlib import Path

import jax
import jax.numpy as jnp


@jax.jit  # type: ignore[untyped-decorator]
def served(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x.T).sum()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request."""

    def do_GET(self) -> None:
        """Compute, and send the number."""
        value = float(served(jnp.ones((64, 64))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(value).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
if len(sys.argv) > 2:
    Path(sys.argv[2]).touch()
sys.stdout.write("ready to serve\n")
server.serve_forever()
