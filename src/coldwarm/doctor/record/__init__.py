"""The recorder: the part of the doctor that runs inside a user's program, where nothing is wrapped.

It imports the standard library and ``coldwarm.frameworks`` alone.
"""
