"""Tool calls that models write into their text, in the markup they were trained on."""
