"""Model files: arrays and a JSON manifest in one file, versioned, written whole or not at all, no pickle."""

from lowdim.persist.archive import FORMAT_VERSION, ModelFileError, read_state, write_state

__all__ = ["FORMAT_VERSION", "ModelFileError", "read_state", "write_state"]
