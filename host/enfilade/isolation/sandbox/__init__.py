"""Sandboxes of guests: what this machine can do, what a launch asks for, how a child confines itself."""
