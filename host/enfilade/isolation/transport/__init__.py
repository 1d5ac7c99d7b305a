"""What carries runs to a plugin: the plain link to a process of this host's, gRPC to all others."""
