"""What the commands of knowledge bases do."""
