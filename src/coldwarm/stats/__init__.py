"""Pure statistics: distributions, intervals, steady state, comparison."""
