"""The tools room: finds tools, makes their schemas fit for models, checks arguments, runs calls."""
