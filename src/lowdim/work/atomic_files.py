"""Files that are written whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_PREFIX, _SUFFIX = ".lowdim-", ".tmp"  # of the names of temporary files


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that replaces ``path`` when the block ends without an error.

    Until then ``path`` is untouched; if the block fails, or is interrupted, nothing is left behind. Temporary files of
    a killed process are removed by the next one that writes into the folder. An existing file keeps its permissions,
    and a link keeps pointing to the file that is replaced.

    Parameters
    ----------
    path : path-like
        The file to write. Its folder must exist.

    Yields
    ------
    file : binary file
        Open for writing (and seeking) in the folder of ``path``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "note.txt")
    ...     with atomic(path) as file:
    ...         _ = file.write(b"whole")
    ...     path.read_bytes()
    b'whole'
    """
    target = Path(os.path.realpath(path))
    mode = _mode_to_keep(target)
    _remove_abandoned(target.parent)
    draft, descriptor = _new_draft(target.parent)
    lock = os.dup(descriptor) if os.name == "posix" else None  # kept until the temporary file is renamed
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(draft, mode)
        _rename(draft, target)
    except BaseException:  # KeyboardInterrupt as well
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    finally:
        if lock is not None:
            os.close(lock)
    _sync_folder(target.parent)


def _new_draft(folder: Path) -> tuple[Path, int]:
    """A new file in ``folder`` and its descriptor, locked for as long as this process lives."""
    # O_BINARY and O_CLOEXEC exist on some systems only; 0o666 lets the umask decide, as for any new file.
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        # A short name: the target's may already be as long as the file system allows.
        draft = folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        try:
            descriptor = os.open(draft, flags, 0o666)
        except PermissionError:  # its own message would name the temporary file
            raise PermissionError(
                f"A folder that may be written to is needed; '{folder}' may not. "
                "Write elsewhere, or change its permissions."
            ) from None
        locked = _lock(descriptor)
        if locked is None or (locked and os.fstat(descriptor).st_nlink):
            return draft, descriptor
        os.close(descriptor)  # another process removed it before it was locked


def _rename(draft: Path, target: Path) -> None:
    try:
        os.replace(draft, target)
    except PermissionError:  # Windows replaces no file that somebody has open
        raise PermissionError(
            f"A file that may be replaced is needed; '{target}' may not, perhaps because a program has it open. "
            "Close it there, or write elsewhere."
        ) from None


def _lock(descriptor: int) -> bool | None:
    """Whether a file could be locked, since no other process has; None where there are no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of killed processes, which nobody has locked."""
    for draft in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            descriptor = os.open(draft, os.O_RDWR)
            try:
                if _lock(descriptor):
                    os.unlink(draft)
            finally:
                os.close(descriptor)


def _mode_to_keep(target: Path) -> int | None:
    """Permissions of the file at ``target``, None if there is none yet; refuses what cannot be replaced."""
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"A file is written into an existing folder; there is none at '{target.parent}'. "
            "Create it, or check the path."
        )
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):  # renaming over a device or a pipe would destroy it
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise ValueError(f"The path of a file is needed to write to; '{target}' is {what}. Give another file name.")
    if not os.access(target, os.W_OK):
        raise PermissionError(
            f"A file that may be written is needed; '{target}' is read-only. "
            "Write elsewhere, or change its permissions."
        )
    return stat.S_IMODE(mode)


def _sync_folder(folder: Path) -> None:
    """Flush the renaming to disk, where the system can; the file is in place either way."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
