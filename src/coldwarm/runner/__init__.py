"""The runner: plans processes, starts and guards them, collects what they saw."""
