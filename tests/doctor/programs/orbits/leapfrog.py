"""Leapfrog, with the force given by whoever calls."""


def leapfrog(force, dt, turns):
    """Return a function which takes many steps."""

    def run(place, speed):
        speed = speed + 0.5 * dt * force(place)
        for _ in range(turns):
            place = place + dt * speed
            speed = speed + dt * force(place)
        return place, speed

    return run
