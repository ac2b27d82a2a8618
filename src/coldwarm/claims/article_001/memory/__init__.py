"""Copies, and memory taken beforehand."""
