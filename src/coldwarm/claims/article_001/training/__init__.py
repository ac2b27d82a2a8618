"""Random numbers, optimizers, precision and several devices."""
