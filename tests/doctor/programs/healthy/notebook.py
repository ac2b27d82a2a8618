# %% [markdown]
# # A fit, cell by cell

# %%
import jax
import jax.numpy as jnp

# %%
x = jnp.linspace(-1, 1, 50)
y = 2 * x + 1

# %%
model = lambda p, x: p[0] * x + p[1]
loss = lambda p: jnp.mean((model(p, x) - y) ** 2)
print(f"loss at the start {loss(jnp.zeros(2)):.2f}")

# %%
step = jax.jit(lambda p: p - 0.3 * jax.grad(loss)(p))
p = jnp.zeros(2)
for i in range(100):
    p = step(p)

# %%
print(p.round(1))
print(f"loss at the end {loss(p):.2f}")
