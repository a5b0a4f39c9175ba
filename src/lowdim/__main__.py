"""``python -m lowdim`` is the command line."""

from lowdim.cli import main

if __name__ == "__main__":
    main()
