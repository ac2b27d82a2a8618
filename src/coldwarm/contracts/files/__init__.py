"""How records lie on disk: codec, strictness, faults, schemas, journal, and the one reader."""
