"""Every item of the articles, with the patterns and claims that cover it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from _generate.rst import definition, heading, plain, table
from coldwarm.catalogue.spec import patterns

ITEMS = Path(__file__).with_name("items.toml")
ARTICLES = {
    "000": (
        "JAX Compile vs Execution",
        "on benchmarks that measure the first result as well as the pace afterwards",
    ),
    "001": (
        "Why JAX Feels Faster Than PyTorch (and When It Isn't)",
        "which compares the two in speed, memory, gradients, random numbers and training",
    ),
    "002": (
        "JAX Performance Optimization: The Complete Cheatsheet",
        "a collection of patterns, with tables, ten rules and a list of symptoms",
    ),
}
"""Title, and what each article is about."""


class Item(NamedTuple):
    """Something that an article says, or that practice has taught."""

    group: str
    says: str
    covered: tuple[str, ...]
    """The ids of patterns and claims; empty: nothing here tests it."""


def items() -> list[Item]:
    """Return all items in their order."""
    groups = tomllib.loads(ITEMS.read_text(encoding="utf-8"))["group"]
    return [
        Item(group["title"], says, tuple(covered))
        for group in groups
        for says, *covered in group["items"]
    ]


def pages(package: Path) -> dict[str, str]:
    """Return the page of the sources."""
    del package  # the items are written down beside this file
    every = items()
    text = (
        heading("Sources", label="sources")
        + "Three articles are put to the test. What they say stands here in our own words, item\n"
        + "by item, with the patterns and claims that cover it. Left out are opinions; what was\n"
        + "seen once and cannot be repeated on a machine like this one, such as memory in pieces\n"
        + "after twelve hours of training; and the column on TPUs in the table of hardware.\n\n"
        + "".join(_article(name) for name in ARTICLES)
    )
    for group in dict.fromkeys(item.group for item in every):
        rows = [
            (plain(item.says), ", ".join(map(_linked, item.covered)) or "nothing: not tested")
            for item in every
            if item.group == group
        ]
        text += heading(group, 1) + table(("item", "covered by"), rows, "items")
    return {"index": text}


def _article(name: str) -> str:
    title, about = ARTICLES[name]
    return f".. _article-{name}:\n\n" + definition(f"Article {name}", f"*{title}*, {about}.")


def _linked(name: str) -> str:
    kind = "pattern" if name in patterns() else "claim"
    return f"{kind} :ref:`{name} <{kind}-{name}>`"
