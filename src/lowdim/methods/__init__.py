"""One file per method, each combining operations of ``relate`` and ``solve``; :mod:`registry` lists them."""
