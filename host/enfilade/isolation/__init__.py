"""Strategies in processes of their own."""
