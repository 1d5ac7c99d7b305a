"""The function-calling strategy for Enfilade."""
