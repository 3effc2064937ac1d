"""A broker and a cache that need nothing but Python packages: for trying out and for tests, in memory only."""
