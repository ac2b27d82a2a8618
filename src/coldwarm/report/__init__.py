"""Views of results: no arithmetic of their own."""
