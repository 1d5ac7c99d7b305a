"""Write agent strategies for Enfilade."""
