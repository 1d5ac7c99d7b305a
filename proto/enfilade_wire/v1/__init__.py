"""Version 1 of the wire; the modules here are generated from `strategy.proto`."""
