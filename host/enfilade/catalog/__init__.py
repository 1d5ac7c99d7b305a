"""The plugins in use: which there are, who offers what, and how one takes another's place."""
