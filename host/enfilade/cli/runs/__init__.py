"""What the commands of recorded runs do."""
