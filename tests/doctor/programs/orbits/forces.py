"""Forces between bodies."""

import jax.numpy as jnp


def acceleration(place, mass):
    apart = place[None] - place[:, None]
    cubed = (jnp.sum(apart**2, axis=-1) + 1e-2) ** 1.5
    return jnp.sum(mass[None, :, None] * apart / cubed[..., None], axis=1)
