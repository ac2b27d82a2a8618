"""What the doctor says, for a terminal and for programs."""
