"""Python functions as tools."""
