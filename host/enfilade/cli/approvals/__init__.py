"""What the commands of calls that wait for a word do."""
