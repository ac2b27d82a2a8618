"""The doctor: says where the time of a user's program went, and which lines to change.

What runs inside of that program, ``record``, is started by ``hook/sitecustomize.py`` and writes a
journal. ``trace`` reads it, ``rules`` find what to change, ``judge`` ranks it, ``describe`` says
it, ``page`` draws it. Code that follows a part of itself says ``with coldwarm.doctor() as d:``, so
the package can be called.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Called(type(sys)):  # type: ignore[misc] # the class of modules
    """A package that is a function too: its name is that of what users call."""

    def __call__(self, *given: object, **options: object) -> "Any":
        """Return what follows a block of code: ``with coldwarm.doctor() as d:``.

        The report is of what happens in this process inside of the block, in other threads too.
        After the block ``d.report`` has it as data, ``print(d)`` and ``d.show()`` say it as the
        terminal does, ``d.save("doctor.html")`` writes it, and a notebook shows it.

        Raises:
            TypeError: something was given, such as a function.
        """
        if given or options:
            text = (
                "coldwarm.doctor takes nothing: write `with coldwarm.doctor() as d:` and call the"
            )
            raise TypeError(f"{text} function in the block")
        from importlib import import_module

        return import_module("coldwarm.doctor.block").DoctorBlock()


if __name__ in sys.modules:  # the doctor that has started a program is no module of it
    sys.modules[__name__].__class__ = _Called
