"""A plug-in that cannot be imported."""

raise ImportError("on purpose")
