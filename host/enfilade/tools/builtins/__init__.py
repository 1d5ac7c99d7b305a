"""The tools that the host brings."""
