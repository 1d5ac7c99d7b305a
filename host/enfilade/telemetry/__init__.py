"""What the host tells of its runs to those who operate it: traces, metrics, logs."""
