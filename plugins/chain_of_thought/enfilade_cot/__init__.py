"""The chain-of-thought strategy for Enfilade and its parser."""
