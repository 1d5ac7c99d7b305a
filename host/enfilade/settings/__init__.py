"""How settings are read and checked, and the folders that they start from."""
