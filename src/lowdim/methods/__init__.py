"""One file per method, each wiring verbs of ``relate`` and ``solve``; :mod:`registry` lists them."""
