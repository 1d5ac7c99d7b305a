"""What lasts: the records of runs, conversations rebuilt from them, small values, token counts."""
