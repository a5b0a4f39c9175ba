"""The container of a model file: a ZIP archive, stored without compression, of

- ``manifest.json``: what the file is, its format version, and the state as JSON;
- ``arrays/<number>.npy``: the arrays the manifest refers to.

Any ZIP tool can open it. It cannot contain code: a state is numbers, text, lists and arrays.
"""

import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from lowdim.persist.states import PLAIN, Arrays, decode, encode, names_of_arrays
from lowdim.work import memory
from lowdim.work.archive_errors import ARCHIVE_ERRORS, shortened
from lowdim.work.atomic_files import atomic

FORMAT = "lowdim-model"
FORMAT_VERSION = 3  # 1 held one model per file; 2 may hold a chain, under 'steps'; 3 has scikit-learn's names
_MANIFEST = "manifest.json"
_MAX_MANIFEST = 2**26
_BYTES_PER_CHARACTER = 24  # of the lists and dictionaries that JSON becomes, at the most
# Versions that can no longer be read, and why.
_TOO_OLD = {0: "format 0 was a draft without parameters"}


class ModelFileError(ValueError):
    """A file that is not a model file, or cannot be read completely."""


def write_state(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Write ``state`` (text, numbers, lists, dictionaries, arrays) to ``path``, whole or not at all."""
    arrays: Arrays = {}
    manifest = {"format": FORMAT, "version": FORMAT_VERSION, "state": encode(state, arrays, "state")}
    text = json.dumps(manifest, indent=1, allow_nan=False, ensure_ascii=False)
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_MANIFEST, text)
        for name, array in arrays.items():
            with archive.open(f"arrays/{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int]:
    """State that :func:`write_state` wrote, and the version of its format.

    Raises ModelFileError for anything else, and runs nothing.
    """
    path = Path(path)
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a special file" if path.exists() else "nothing"
        raise FileNotFoundError(f"A model file is needed; found {what} at '{path}'. Check the path.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive, path)
            manifest = _manifest(archive, members, path)
            arrays = _arrays(archive, members, names_of_arrays(manifest["state"]), path)
        state = decode(manifest["state"], arrays)
    except ModelFileError:
        raise
    except (*ARCHIVE_ERRORS, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise _refusal(path, f"is not a model file, or is damaged ({shortened(error)})") from None
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise _refusal(path, "holds no state")
    return state, manifest["version"]


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Members by name. None can expand or overlap another: together they are no larger than the file."""
    infos, end = sorted(archive.infolist(), key=lambda info: info.header_offset), 0
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise _refusal(path, f"has a compressed or encrypted member '{info.filename}'")
        if info.header_offset < end or info.compress_size != info.file_size:
            raise _refusal(path, f"has a member '{info.filename}' that overlaps another")
        end = info.header_offset + info.file_size
    members = {info.filename: info for info in infos}
    if len(members) < len(infos):
        raise _refusal(path, "has two members of one name")
    return members


def _manifest(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: Path) -> dict[str, Any]:
    size = members[_MANIFEST].file_size
    if size > _MAX_MANIFEST:
        raise _refusal(path, f"has a manifest of {memory.human(size)}")
    memory.require(
        _BYTES_PER_CHARACTER * size, f"Loading '{path}', its manifest alone,", "Load it on a larger machine."
    )
    manifest = json.loads(archive.read(_MANIFEST).decode())
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise _refusal(path, "is an archive of another kind")
    version = manifest.get("version")
    if type(version) is not int or not 0 <= version <= FORMAT_VERSION:
        raise ModelFileError(
            f"'{path}' has format version {version!r}; this lowdim reads up to {FORMAT_VERSION}. Upgrade lowdim."
        )
    if version in _TOO_OLD:
        raise ModelFileError(
            f"'{path}' has format version {version}, which can no longer be read: {_TOO_OLD[version]}. "
            "Fit the model again and save it."
        )
    return manifest


def _arrays(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], names: set[str], path: Path) -> Arrays:
    """The arrays that the manifest names, and no others."""
    infos = {name: members[f"arrays/{name}.npy"] for name in names}
    sizes = [info.file_size for info in infos.values()]
    # A member is read whole and then copied, so that the array owns its memory.
    memory.require(sum(sizes) + max(sizes, default=0), f"Loading '{path}'", "Load it on a larger machine.")
    arrays: Arrays = {}
    for name, info in infos.items():
        data = archive.read(info)  # the archive's checksum is verified here
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(stream)
        size = math.prod(shape) * dtype.itemsize
        if dtype.kind not in PLAIN or len(data) - stream.tell() != size:
            raise _refusal(path, f"has an array '{info.filename}' that does not match its header")
        values = np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape, order="F" if fortran else "C")
        arrays[name] = values.copy(order="K")
    return arrays


def _refusal(path: Path, why: str) -> ModelFileError:
    return ModelFileError(
        f"A file written by lowdim's save() is needed; '{path}' {why}. Use another copy, or fit and save again."
    )
