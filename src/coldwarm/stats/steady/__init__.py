"""Where warm calls become steady: of one process from its series, of a case from its processes."""
