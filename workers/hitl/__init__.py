"""Humans in the loop: which items people see, what they are asked, and what became of their labels."""
