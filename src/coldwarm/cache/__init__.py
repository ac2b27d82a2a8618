"""Caches that are shipped: what lies in one, and whether a program finds it where it is used."""
