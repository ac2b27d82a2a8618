"""A package whose modules import each other relatively."""
