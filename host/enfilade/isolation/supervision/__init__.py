"""The processes of a plugin: how many, in which state, which takes the next run, what follows a crash."""
