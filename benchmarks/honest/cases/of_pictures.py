"""Pillow and Matplotlib: images and figures."""

import io

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFilter

PIXELS = (np.arange(64 * 64) % 251).astype("u1").reshape(64, 64)


def image():
    return Image.fromarray(PIXELS).resize((32, 32))


def blurred():
    return Image.fromarray(PIXELS).filter(ImageFilter.GaussianBlur(2))


def drawn():
    made = Image.new("RGB", (50, 50), "white")
    ImageDraw.Draw(made).ellipse((5, 5, 45, 45), fill="red")
    return made


def pixels():
    return np.asarray(Image.fromarray(PIXELS).rotate(45))


def as_png():
    out = io.BytesIO()
    Image.fromarray(PIXELS).save(out, "PNG")
    return out.getvalue()


def of_an_image():
    def thumbnail(picture):
        return picture.convert("L").resize((16, 16))

    return thumbnail, (Image.fromarray(PIXELS),)


def figure():
    made = Figure()
    made.subplots().plot([1, 2, 3])
    return made


def figure_of_pyplot():
    made, axes = plt.subplots()
    axes.plot([1, 2, 3])
    plt.close(made)
    return made


def axes_of_pyplot():
    made, axes = plt.subplots(2, 2)
    plt.close(made)
    return axes


def figure_as_bytes():
    made, out = Figure(), io.BytesIO()
    made.subplots().hist(PIXELS.ravel())
    made.savefig(out, format="raw")
    return out.getvalue()
