"""What the core writes by hand, beside libraries that do the same."""
