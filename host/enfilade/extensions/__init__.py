"""Packages that add to the host: found, loaded, checked, and left out when they are broken."""
