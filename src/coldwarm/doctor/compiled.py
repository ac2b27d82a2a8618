"""The program that JAX is compiling, from the frames above a listener that is told of it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_COMPILED = ("xla_executable", "compiled")
"""How JAX calls what it has just compiled."""
_NEAR = 8
"""Frames above a listener in which JAX holds it."""


def memory_of(frame: "FrameType | None") -> "dict[str, int] | None":
    """Return the bytes that the program just compiled takes when it runs, as XLA has planned them.

    ``None``: this version of JAX does not show them.
    """
    for _ in range(_NEAR):
        if frame is None:
            break
        name = next((one for one in _COMPILED if one in frame.f_code.co_varnames), None)
        compiled = frame.f_locals.get(name) if name is not None else None
        stats = getattr(compiled, "get_compiled_memory_stats", None)
        if stats is not None:
            planned = stats()
            return {
                "temporary": planned.temp_size_in_bytes,
                "arguments": planned.argument_size_in_bytes,
            }
        frame = frame.f_back
    return None


def fingerprint(frame: "FrameType | None") -> "str | None":
    """Return what tells a program that JAX is about to compile from others, as 16 digits.

    Two with the same fingerprint have the same text, without the lines of the source that it is
    from, and the same options. ``None``: this version of JAX does not show the program.
    """
    import hashlib

    for _ in range(_NEAR):
        if frame is None:
            break
        held = frame.f_locals
        program = held.get("computation")
        if program is not None and hasattr(program, "operation"):
            digest = hashlib.sha256(str(program).encode())
            options = held.get("compile_options")
            told = getattr(options, "SerializeAsString", None)
            digest.update(told() if told else b"")
            return digest.hexdigest()[:16]
        frame = frame.f_back
    return None
