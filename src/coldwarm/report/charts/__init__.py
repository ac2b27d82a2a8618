"""Figures of results, as specifications of Vega-Lite: a file for each kind."""
