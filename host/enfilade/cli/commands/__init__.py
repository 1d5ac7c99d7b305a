"""The commands as they are declared: a file each, which imports nothing but click until the command is given."""
