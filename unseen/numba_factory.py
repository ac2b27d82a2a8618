"""Integrators made by a factory, with a cache that is meant to keep them."""

import numba


def integrator(rule):
    """Return an integrator of a rule."""
    rule = numba.njit(rule)

    @numba.njit(cache=True)
    def run(y, h, turns):
        for _ in range(turns):
            y = y + h * rule(y)
        return y

    return run


RULES = {"decay": lambda y: -y, "logistic": lambda y: y * (1.0 - y)}


def main():
    for name, rule in RULES.items():
        print(name, round(integrator(rule)(0.5, 0.01, 100), 3))


main()
