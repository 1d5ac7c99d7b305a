"""Serving strategies as a plugin process: `python -m enfilade_sdk.serving package.module:Class`."""
