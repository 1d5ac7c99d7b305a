"""Stands for a file that is no Python: the text cannot be compiled."""

compile("def broken(:\n    pass\n", "broken.py", "exec")
