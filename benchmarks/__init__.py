"""Speed, side by side in one run: `python -m benchmarks [NAME ...] [--write docs/performance.md]`."""
