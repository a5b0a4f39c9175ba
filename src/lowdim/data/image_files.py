"""Folders of images as tables, one row per image."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.file_errors import damaged
from lowdim.data.file_memory import demand_images
from lowdim.data.table import Table, Wanted, from_arrays
from lowdim.work.archive_errors import ARCHIVE_ERRORS

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")  # of these names, whatever a file holds
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")  # more than eight bits per pixel: kept as they are


def read_images(folder: Path, source: str, wanted: Wanted) -> Table:
    """Table of the images below a folder; their subfolders are labels."""
    from PIL import Image

    paths = sorted(
        p
        for p in folder.rglob("*")
        if p.suffix.lower() in _IMAGES and not _hidden(p.relative_to(folder)) and p.is_file()
    )
    if not paths:
        raise ValueError(
            f"read: a folder with images ({', '.join(_IMAGES)}) is needed; {source} has none. Check the path."
        )
    files = [path.relative_to(folder) for path in paths]
    groups = [file.parts[0] if len(file.parts) > 1 else "" for file in files]
    if "" in groups and any(groups) and wanted.label is None:
        raise ValueError(
            f"read: images must be all in subfolders (their labels) or all in the folder itself; {source} has "
            f"{groups.count('')} of {len(groups)} outside subfolders. Move them."
        )
    X: NDArray[Any] | None = None
    shape: tuple[int, int] = (0, 0)
    for i, path in enumerate(paths):
        try:
            with _opened(path) as image:
                demand_images(len(paths), image.size, 4 if image.mode in _DEEP_MODES else 1, source)
                pixels = np.asarray(image if image.mode in _DEEP_MODES else image.convert("L"))
        except (*ARCHIVE_ERRORS, Image.DecompressionBombError) as error:
            raise damaged(str(path), "image", error, "Replace or remove it.") from None
        if X is None:
            shape = (pixels.shape[0], pixels.shape[1])
            X = np.empty((len(paths), pixels.size), dtype=pixels.dtype)
        elif pixels.shape != shape or pixels.dtype != X.dtype:
            raise ValueError(
                f"read: images must have one size and depth; '{files[0]}' is {_size(shape)} {X.dtype} and "
                f"'{files[i]}' {_size(pixels.shape)} {pixels.dtype}. Resize or remove it."
            )
        X[i] = pixels.ravel()
    extras = {"file": np.array([file.as_posix() for file in files]), "folder": np.array(groups)}
    names = [f"pixel_{row}_{column}" for row in range(shape[0]) for column in range(shape[1])]
    label = "folder" if all(groups) else None
    return from_arrays(X, names, extras, wanted, source, label=label, id="file", image_shape=shape)


def _opened(path: Path) -> Any:
    """An opened image whose pixels are not read yet."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # memory is checked by lowdim itself
        return Image.open(path, formats=_FORMATS)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]} × {shape[0]}"
