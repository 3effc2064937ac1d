"""What the topics alone prove: one fate a draft, one decision a round, and a judge's pass behind every served text."""
