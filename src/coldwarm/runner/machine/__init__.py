"""What is recorded of the machine: hardware, software, variables, telemetry."""
