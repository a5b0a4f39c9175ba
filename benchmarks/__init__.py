"""lowdim beside its peers: time, memory and quality in one table. ``python -m benchmarks`` (or ``make bench``).

A task is a data set, the systems that work on it and a measure of quality; ``tasks/`` has one file per family, and a
new file there is all that a new family needs. Each run is a process of its own (``worker``), one after another and in
turn (``rounds``), because memory, thread pools and caches that one system leaves behind would help or hurt the next.
"""
