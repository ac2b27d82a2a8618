"""The source files of a program, as far as findings need them. Pure."""
