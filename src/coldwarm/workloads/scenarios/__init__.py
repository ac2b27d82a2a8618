"""Scenarios: workloads whose call is a whole loop of many steps."""
