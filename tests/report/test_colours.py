"""Colours of the page: read on both grounds, and told apart by people who see fewer of them."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest

from coldwarm.report.charts.chart import COLOURS, GROUNDS

STYLE = files("coldwarm.report.page").joinpath("assets", "page.css").read_text(encoding="utf-8")
LEAST_OF_TEXT = 4.5
LEAST_OF_MARKS = 2.2
"""Of colours that never stand alone: names are beside them, and an outline around swatches."""
LEAST_APART = 7.0
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
SEEN = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]
    ),
    "deuteranopia": np.array(
        [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
    "tritanopia": np.array(
        [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]
    ),
}
"""Machado, Oliveira and Fernandes (2009), of light."""


def light(colour: str) -> np.ndarray:
    """Return the light of a colour, red, green and blue."""
    shares = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of WCAG."""
    bright = sorted(float(TO_XYZ[1] @ light(colour)) for colour in (one, other))
    return (bright[1] + 0.05) / (bright[0] + 0.05)


def lab(colour: str, seen: str) -> np.ndarray:
    white = np.array([0.9505, 1.0, 1.089])
    xyz = TO_XYZ @ np.clip(SEEN[seen] @ light(colour), 0, 1) / white
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def variables(selector: str) -> dict[str, str]:
    """Return the colours of a theme of the page."""
    block = STYLE.partition(f"{selector} {{")[2].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


LIGHT, DARK = variables(":root"), variables(':root[data-theme="dark"]')
TEXTS = ("text", "faint", "link", "faster", "slower", "undecided", "same")


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("text", TEXTS)
def test_text_can_be_read_on_every_ground(theme: dict[str, str], text: str) -> None:
    for ground in ("ground", "raised"):
        assert contrast(theme[text], theme[ground]) >= LEAST_OF_TEXT
    assert contrast(theme["text"], theme["note"]) >= LEAST_OF_TEXT


def test_the_dark_theme_is_the_same_by_the_system_and_by_the_button() -> None:
    assert variables(":root:not([data-theme])") == DARK
    assert LIGHT.keys() == DARK.keys()


def test_figures_stand_on_the_ground_of_the_page() -> None:
    assert (LIGHT["ground"], DARK["ground"]) == (
        GROUNDS["light"].background,
        GROUNDS["dark"].background,
    )


@pytest.mark.parametrize("colour", COLOURS)
def test_a_candidate_is_seen_on_both_grounds(colour: str) -> None:
    assert contrast(colour, LIGHT["ground"]) >= LEAST_OF_MARKS
    assert contrast(colour, DARK["ground"]) >= LEAST_OF_MARKS


@pytest.mark.parametrize("seen", SEEN)
def test_candidates_are_told_apart(seen: str) -> None:
    for one, other in combinations(COLOURS, 2):
        assert np.linalg.norm(lab(one, seen) - lab(other, seen)) >= LEAST_APART, (one, other)
