"""Knowledge bases: documents in parts, an index of them, and the tool that finds the parts that fit a question."""
