"""Claims: what articles say, each with a rule that was written down before it was measured."""
