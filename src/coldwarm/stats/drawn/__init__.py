"""Numbers that figures are drawn from, computed from cases. Pure."""
