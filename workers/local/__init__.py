"""Everything in one process: services where none are given, workers as tasks, and a producer's side of the loop."""
