"""Honest functions of real libraries, each measured: none is to be refused, none accused."""
