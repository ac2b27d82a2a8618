"""The table of control flow."""
