"""Finding plugins without running any of their code."""
