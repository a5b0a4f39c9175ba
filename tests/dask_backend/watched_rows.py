"""Rows made block by block, in tasks that leave a note of the process that began them."""

import os
import time
import uuid
from pathlib import Path

import numpy as np


def made(block, width, dtype, length):
    """Rows of block number ``block``, always the same."""
    random = np.random.default_rng(block)
    rows = random.normal(size=(length, width)) * np.linspace(3, 1, width) + 4
    return np.clip(rows * 20, 0, 255).astype(np.uint8) if dtype == "uint8" else rows.astype(dtype)


def read(block_id, folder, width, kind, length, seconds):
    """The same as a task that leaves a note of the process that began it, and takes its time."""
    note = f"{block_id[0]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    Path(folder, note).touch()
    time.sleep(seconds)
    return made(block_id[0], width, kind, length)
