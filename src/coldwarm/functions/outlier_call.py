"""Whether a call is an outlier: so much slower than a usual one that no disturbance explains it."""

_OUTLIER_RATIO = 5.0
OTHER_S = 1e-3
"""By how many seconds a call with other arguments is slower, to be an outlier."""
PAUSED_S = 5e-3
"""By how many a call after a pause is, from which the threads of a library have to wake up."""


def is_outlier(call_s: float, usual_s: float, least_s: float) -> bool:
    """Say whether a call is one, by the ratio and by so many seconds.

    ``least_s``: by how many seconds at least.
    """
    return call_s > _OUTLIER_RATIO * usual_s and call_s - usual_s > least_s
