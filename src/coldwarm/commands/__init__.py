"""Programs of the user's, started as they are: how long until each is ready, and on what caches."""
