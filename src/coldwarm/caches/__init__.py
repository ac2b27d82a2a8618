"""Cache modes: how each cache is isolated, listed and judged, a file for each owner."""
