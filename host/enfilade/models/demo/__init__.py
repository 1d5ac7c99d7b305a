"""The built-in model: a handful of rules, not a language model, so that everything runs without a key or a network."""
