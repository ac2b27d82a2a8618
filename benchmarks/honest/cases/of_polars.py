"""Polars: frames that are there, and lazy ones that were collected."""

import polars as pl

FRAME = pl.DataFrame({"name": ["a", "b", "c", "d"] * 50, "value": [float(n) for n in range(200)]})


def grouped():
    return FRAME.group_by("name").agg(pl.col("value").mean()).sort("name")


def collected():
    return (
        FRAME.lazy().filter(pl.col("value") > 10).with_columns(twice=pl.col("value") * 2).collect()
    )


def collected_groups():
    return FRAME.lazy().group_by("name").agg(pl.col("value").sum()).sort("name").collect()


def series():
    return FRAME["value"].rolling_mean(5)


def to_numpy():
    return FRAME["value"].to_numpy()


def rows():
    return FRAME.head(5).to_dicts()


def one_number():
    return FRAME["value"].sum()


def joined():
    return FRAME.join(FRAME.group_by("name").len(), on="name").sort("value")


def several_frames():
    return {"head": FRAME.head(3), "tail": FRAME.tail(3)}


def of_a_frame():
    def ranked(frame):
        return frame.with_columns(rank=pl.col("value").rank())

    return ranked, (FRAME,)
