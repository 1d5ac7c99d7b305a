"""Tools' schemas, whatever dialect they are written in."""
