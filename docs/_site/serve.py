"""Serve the built site on this machine: ``python docs/_site/serve.py build/site``.

Pages may share memory with their Workers there, so that those that compute use several threads.
"""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

ISOLATED = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


class Isolated(SimpleHTTPRequestHandler):
    """Files with the headers by which a browser isolates a page from others."""

    def end_headers(self) -> None:
        """Add the headers."""
        for name, value in ISOLATED.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *given: object) -> None:
        """Say nothing of single requests."""


def server(folder: str, port: int = 0) -> ThreadingHTTPServer:
    """A server of the folder, not yet running."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Isolated, directory=folder))


if __name__ == "__main__":
    with server(sys.argv[1], 8000) as made:
        print(f"http://127.0.0.1:{made.server_port}/")
        made.serve_forever()
