"""pandas: frames, series, indices, groups."""

import numpy as np
import pandas as pd

FRAME = pd.DataFrame(
    {
        "name": list("abcde") * 40,
        "value": np.arange(200.0),
        "day": pd.date_range("2024-01-01", periods=200),
    }
)


def grouped():
    return FRAME.groupby("name")["value"].mean()


def described():
    return FRAME.describe(include="all")


def pivoted():
    return FRAME.assign(week=FRAME.day.dt.isocalendar().week).pivot_table(
        index="name", columns="week", values="value"
    )


def merged():
    return FRAME.merge(FRAME.groupby("name")["value"].sum().rename("total"), on="name")


def rolling():
    return FRAME.set_index("day")["value"].rolling("7D").mean()


def resampled():
    return FRAME.set_index("day")[["value"]].resample("ME").sum()


def categories():
    return FRAME.name.astype("category").value_counts()


def as_records():
    return FRAME.head(20).to_dict("records")


def with_nullable_numbers():
    return pd.Series([1, None, 3], dtype="Int64").fillna(0)


def of_a_frame():
    def normalised(frame):
        return (frame["value"] - frame["value"].mean()) / frame["value"].std()

    return normalised, (FRAME,)


def strings():
    return FRAME["name"].str.upper() + "!"
