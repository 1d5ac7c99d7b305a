"""Where the settings may touch a secret: the names of variables that hold one, and addresses that may."""
