"""What other processes see of the hosts that run, and what they may ask of them."""
