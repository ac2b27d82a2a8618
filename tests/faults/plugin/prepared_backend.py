"""Backends that have something made beforehand, honest and not."""

import os
import time

from faulty_backend import Faulty  # type: ignore[import-not-found]  # on the path of the run

from coldwarm.backends.base import DeviceUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Prepared(Faulty):  # type: ignore[misc]  # its base is on the path of the run
    """Writes down a factor beforehand, and multiplies with what it loads."""

    name = "prepared"
    prepares = True
    factor = "2"

    def make(
        self, function: "Callable[..., Any]", arguments: "tuple[Any, ...]", directory: str
    ) -> None:
        """Write the factor, after a call that shows that the candidate is there."""
        function(*arguments)
        with open(os.path.join(directory, "factor"), "w", encoding="ascii") as file:  # noqa: PTH118, PTH123 - as the measured side writes paths
            file.write(self.factor)

    def load(self, directory: str) -> "Callable[..., Any]":
        """Read the factor, and leave another one for whoever gets the same file."""
        path = os.path.join(directory, "factor")  # noqa: PTH118 - likewise
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - likewise
            factor = int(file.read())
        with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - likewise
            file.write("9")
        return lambda array: array * factor + 1


class Beside(Prepared):
    """Loads something for the candidate, which runs as it is."""

    name = "made_beside"
    replaces = False

    def load(self, directory: str) -> None:  # type: ignore[override] # the others give a function
        """Read the factor, and give no function."""
        super().load(directory)


class Wrong(Prepared):
    """Makes what gives another answer."""

    name = "made_wrong"
    factor = "3"


class MakeFails(Prepared):
    """Cannot make anything."""

    name = "make_fails"

    def make(self, *_: "Any") -> None:
        """Raise."""
        text = "nothing to serialise"
        raise NotImplementedError(text)


class MakesNothing(Prepared):
    """Says that it has made something."""

    name = "makes_nothing"

    def make(self, *_: "Any") -> None:
        """Write no file."""


class MakeEnds(Prepared):
    """Takes the process with it."""

    name = "make_ends"

    def make(self, *_: "Any") -> None:
        """End without a word."""
        os._exit(3)


class MakeHangs(Prepared):
    """Never comes to an end."""

    name = "make_hangs"

    def make(self, *_: "Any") -> None:
        """Wait."""
        time.sleep(3600)


class LoadFails(Prepared):
    """Cannot read what it has made."""

    name = "load_fails"

    def load(self, directory: str) -> "Callable[..., Any]":
        """Raise."""
        text = f"made by another version: {os.path.basename(directory)}"  # noqa: PTH119 - as the measured side writes paths
        raise ValueError(text)


class LeavesFiles(Prepared):
    """Adds to what was made beforehand."""

    name = "leaves_files"

    def load(self, directory: str) -> "Callable[..., Any]":
        """Write another file beside the one it reads."""
        with open(os.path.join(directory, "more"), "w", encoding="ascii"):  # noqa: PTH118, PTH123 - likewise
            pass
        loaded: Callable[..., Any] = super().load(directory)
        return loaded


class NoDevice(Prepared):
    """Finds no device in the process that makes."""

    name = "made_without_device"

    def device_init(self) -> None:
        """Raise as a backend does whose GPU is not there."""
        raise DeviceUnavailableError("gpu_unavailable")
