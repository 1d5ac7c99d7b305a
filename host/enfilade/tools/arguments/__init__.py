"""The arguments of calls: read, made to fit, checked, filled in."""
