"""One measured process: spawn, guard, replies, environment, temporary folders."""
