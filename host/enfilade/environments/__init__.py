"""Installing plugins: one virtual environment each, recorded in `plugins.lock`."""
