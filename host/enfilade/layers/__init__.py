"""What goes on around a run, its model calls and its tool calls: an onion of layers."""
