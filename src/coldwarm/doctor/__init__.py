"""What runs inside a user's program and notes what its frameworks do: nothing is wrapped.

It is started by ``hook/sitecustomize.py``, imports the standard library and
``coldwarm.frameworks`` alone, and writes a journal that others read (``coldwarm.runner.doctor``).
"""
