"""Data files, damaged: reading one gives a table of numbers, or refuses it in words."""

import gzip
import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from lowdim.cli.column_survey import survey_columns
from lowdim.data import diagnosis, read
from torture import draws
from torture.files import _bytes_changed
from torture.judge import Failure, Refused, demand_finite, judged

_TEXTS = ("csv", "csv.gz", "tsv")
_CELLS = ["$1,200.50", "(1,614)", "73%", "agree", "a;b;c", "007", "total", "a,b,c,kind", "sep=;", "n/a", "..", "=1+1",
          "2024-03-31T03:00:00+02:00", "", "NA", "x", '"', '"a', "1e999", "-inf", "nan", "9" * 400, "1_000", "0x1f",
          "\x00", "é", "\ud83d", "1,5", "\r", "\n\n", "\t", ";", "  3 ", "True", "2020-01-01", "#",
          "\ufeff"]  # fmt: skip


@cache
def _file(ending: str) -> bytes:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.array(["a", "b"] * 6)
    frame, buffer = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": y}), io.BytesIO()
    others = {"json": frame.write_json, "ndjson": frame.write_ndjson, "feather": frame.write_ipc}
    if ending in others:
        others[ending](buffer)
        return buffer.getvalue()
    if ending == "parquet":
        frame.write_parquet(buffer)
    elif ending == "npy":
        np.save(buffer, X)
    elif ending == "npz":
        np.savez_compressed(buffer, X=X, y=y)
    elif ending == "png":
        Image.fromarray(rng.integers(255, size=(5, 4)).astype("u1")).save(buffer, "png")
    elif ending == "h5ad":
        import h5py

        with h5py.File(buffer, "w") as file:
            file["X"] = X
            for part, n in (("obs", 12), ("var", 3)):
                group = file.create_group(part)
                group.attrs["_index"] = "_index"
                group["_index"] = [f"{part}{i}" for i in range(n)]
    else:
        frame.write_csv(buffer, separator="\t" if ending == "tsv" else ",")
    return buffer.getvalue()


def run(rng: np.random.Generator, only: str = "") -> str:
    """One case: a small file changed in some places, and read."""
    ending = only or draws.pick(
        rng, [*_TEXTS, *_TEXTS, "npy", "npz", "parquet", "png", "h5ad", "json", "ndjson", "feather"]
    )
    data = _file(ending.removesuffix(".gz"))
    if ending in _TEXTS and rng.random() < 0.7:
        data = _cells_changed(rng, data.decode()).encode("utf-8", "surrogatepass")
        data = gzip.compress(data) if ending == "csv.gz" else data
    elif ending == "csv.gz":
        data = _bytes_changed(rng, gzip.compress(data))
    else:
        data = _bytes_changed(rng, data)
    options = {"missing": draws.pick(rng, ["error", "drop", "mean", "keep"])}
    if ending in (*_TEXTS, "parquet", "json", "ndjson", "feather"):
        options["label"] = draws.pick(rng, ["kind"] * 8 + ["a", "y"])
        if rng.random() < 0.5:
            options["mixed"] = True
        for name in ("transpose", "drop_totals", "drop_duplicates"):
            if rng.random() < 0.1:
                options[name] = True
        if ending in _TEXTS and rng.random() < 0.3:
            options["skip"] = int(rng.integers(3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data.{ending}")
        path.write_bytes(data)
        try:
            table = judged(lambda: read(folder if ending == "png" else path, **options))
            if options.get("mixed"):
                judged(lambda: diagnosis.of_columns(table, survey_columns(table)))
        except Refused as refused:
            if len(str(refused)) > 2000:
                raise Failure("endless message", f"{ending}: {len(str(refused)):,} characters") from None
            return "refused"
        except Failure as failure:
            raise Failure(failure.word, f"{ending}, {options}, {data[:300]!r}\n{failure.details}") from None
        if options["missing"] != "keep" and "mixed" not in options:  # or else Prepare fills them
            demand_finite(np.asarray(table.X), f"{ending} {options}")
    return "read"


def _cells_changed(rng: np.random.Generator, text: str) -> str:
    lines = [line.split(",") for line in text.splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        line = draws.pick(rng, lines)
        if line:
            line[int(rng.integers(len(line)))] = draws.pick(rng, _CELLS)
        if rng.random() < 0.1:
            line.append("7")
    ends = draws.pick(rng, ["\n", "\r\n", "\n", "\n"])
    return ends.join(",".join(line) for line in lines) + draws.pick(rng, ["", "\n", "\n\n"])
