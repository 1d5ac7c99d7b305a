"""The wire between Enfilade's host and its strategy plugins."""
