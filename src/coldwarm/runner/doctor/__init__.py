"""Starts a program under the doctor, and reads what its processes have written."""
