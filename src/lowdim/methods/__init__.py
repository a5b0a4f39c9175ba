"""One file per method, each combining verbs of ``relate`` and ``solve``; :mod:`registry` lists them."""
