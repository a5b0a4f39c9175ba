"""Runtime services for long computations: threads, random numbers, progress, memory and whole files."""
