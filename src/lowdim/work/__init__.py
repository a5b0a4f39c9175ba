"""How long work behaves: threads, random numbers, progress, memory and whole files."""
