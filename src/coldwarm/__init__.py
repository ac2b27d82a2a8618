"""What a JIT really costs: cold and warm, with the state of every cache proved."""

__version__ = "0.1.0"
