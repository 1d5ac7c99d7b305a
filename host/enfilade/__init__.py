"""Host for agent strategies."""
