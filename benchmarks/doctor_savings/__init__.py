"""Whether what the doctor says a change saves is what it saves."""
