"""Dead letters for on-call: what there is, and the way back. Workers write them (``runtime/dead_letters.py``)."""
