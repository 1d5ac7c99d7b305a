"""Reads documents of several formats into blocks."""
