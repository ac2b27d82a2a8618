"""Interest with a rate for each account."""

import jax
import jax.numpy as jnp


class Account:
    def __init__(self, balance, rate):
        self.balance = balance
        self.rate = rate

    def after(self, years):
        def year(_, balance):
            return balance * (1 + self.rate)

        return jax.lax.fori_loop(0, years, year, self.balance)


def main():
    accounts = [Account(jnp.float32(100.0 + i), 0.01 * (i % 5)) for i in range(40)]
    final = [account.after(10) for account in accounts]
    print(f"{jnp.stack(final).sum():.0f}")


if __name__ == "__main__":
    main()
