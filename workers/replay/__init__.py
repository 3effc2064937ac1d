"""Recorded drafts, recorded judges and human labels, run through the topics as if they were live."""
