"""The same agent's work in other frameworks, each in a process of its own beside this host."""
