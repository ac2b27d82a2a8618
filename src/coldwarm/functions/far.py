"""From when on a call is far slower than a usual one: so far that no disturbance explains it."""

_FAR = 5.0
OTHER_S = 1e-3
"""By how many seconds, with other arguments."""
PAUSED_S = 5e-3
"""By how many after a pause, from which the threads of a library have to wake up."""


def is_far(call_s: float, usual_s: float, least_s: float) -> bool:
    """Say whether it is, by the ratio and by so many seconds at least."""
    return call_s > _FAR * usual_s and call_s - usual_s > least_s
