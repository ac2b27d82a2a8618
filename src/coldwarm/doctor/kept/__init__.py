"""What of a program's is kept beside the journal, where it is asked for."""
