"""Polynomials of rising degree, their coefficients in a tuple."""

from numba import njit


@njit
def horner(coefficients, x):
    value = 0.0
    for one in coefficients:
        value = value * x + one
    return value


def main():
    for degree in range(1, 7):
        coefficients = tuple(1.0 / (n + 1) for n in range(degree + 1))
        print(degree, f"{horner(coefficients, 0.5):.4f}")


if __name__ == "__main__":
    main()
