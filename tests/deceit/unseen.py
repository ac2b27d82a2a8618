"""What no measurement can see that calls a function: named here, and not tried."""

from __future__ import annotations

UNSEEN: dict[str, str] = {
    "a program that knows": "it behaves otherwise because it finds that it is measured",
    "a result kept for later": "its finalizer does the work, and the program keeps the result until"
    " nobody measures any more",
    "a mark in the argument": "the work is not done again on an object that cannot be copied; a"
    " factory makes another one, but what is given to coldwarm.bench as it is has the mark",
    "another machine": "a call hands its work to a service that was there before, and does not"
    " wait for the answer",
    "a smaller number": "answers are kept for whole numbers alone, and to find one gives all"
    " smaller ones",
}
"""By name, what hides the cost."""
