"""The ten rules."""
