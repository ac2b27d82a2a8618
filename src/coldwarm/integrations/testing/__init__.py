"""What the pytest plug-in does, loaded when a test or an option asks for it."""
