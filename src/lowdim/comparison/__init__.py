"""Methods by name, run and measured side by side."""
