"""One item's story, put together from the topics alone."""
