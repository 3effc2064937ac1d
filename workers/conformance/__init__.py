"""S1's table and rules as checks that any configured judge can be put through, each one module."""
