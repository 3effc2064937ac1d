"""Drafts from files to the drafts topic: refused at the door, line by line, before Kafka sees them."""
