"""``python -m coldwarm`` is the command ``coldwarm``."""

from coldwarm.cli.main import main

if __name__ == "__main__":
    main()
