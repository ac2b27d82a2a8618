"""What patterns and claims declare, read from their files as plain data; nothing here runs them."""
