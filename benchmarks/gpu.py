"""``python -m benchmarks.gpu [--out FILE]``: neighbours and t-SNE on one GPU, with the data of LOWDIM_DATA.

Every task is run once with whatever the caches of compiled kernels hold, then five times; the rows are on the device.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from lowdim import SNE, TSNE
from lowdim.relate.neighbors import nearest

_ROUNDS = 5


class Run(NamedTuple):
    task: str
    first: float
    warm: list[float]
    memory: float
    same: bool
    quality: str


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("results_gpu.md"))
    parser.add_argument("--only", default="", help="beginning of the names of the tasks to run")
    args = parser.parse_args(argv)
    rows: list[str] = []
    for name, make in _tasks().items():
        if name.startswith(args.only):
            run = _measure(name, *make())
            rows.append(_row(run))
            print(rows[-1], flush=True)
            args.out.write_text("\n".join([_head(), *rows]) + "\n", encoding="utf-8")
    return 0


def _tasks() -> dict[str, Callable[[], tuple[Callable[[], Any], Callable[[Any], str]]]]:
    def tsne(X: Any, **options: Any) -> tuple[Callable[[], Any], Callable[[Any], str]]:
        method = options.pop("method", TSNE)
        return lambda: method(random_state=0, **options).fit(X), _divergence

    return {
        "t-SNE, MNIST 70,000 × 50": lambda: tsne(_mnist()),
        "t-SNE, flow cytometry 120,000 × 13": lambda: tsne(_flow(120_000)),
        "t-SNE with exact sums, MNIST 70,000 × 50": lambda: tsne(_mnist(), repulsion="exact"),
        "SNE, MNIST 70,000 × 50": lambda: tsne(_mnist(), method=SNE),
        "t-SNE on a line, MNIST 70,000 × 50": lambda: tsne(_mnist(), n_components=1),
        "90 neighbours, MNIST 70,000 × 50": lambda: _neighbors(_mnist()),
        "90 neighbours, jittered MNIST 1,000,000 × 50": lambda: _neighbors(_jittered(1_000_000)),
        "t-SNE, jittered MNIST 1,000,000 × 50": lambda: tsne(_jittered(1_000_000)),
    }


def _load(name: str) -> Any:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz") as stored:
        return stored[max(stored.files, key=lambda key: stored[key].size)]


def _mnist() -> Any:
    """Scores (70000, 50) of the leading principal components."""
    X = torch.as_tensor(_load("mnist").reshape(70_000, -1), device="cuda").double()
    X = X - X.mean(0)
    return (X @ torch.linalg.eigh(X.T @ X).eigenvectors.flip(1)[:, :50]).float()


def _jittered(n: int) -> Any:
    X = _mnist()
    drawn = torch.Generator("cuda").manual_seed(0)
    X = X.repeat(-(-n // len(X)), 1)[:n]
    return X + torch.randn(X.shape, device="cuda", generator=drawn) * (0.1 * X.std())


def _flow(n: int) -> Any:
    return torch.as_tensor(_load("flow_cytometry_1m6")[:n], device="cuda").float()


def _neighbors(X: Any) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    def recall(found: Any) -> str:
        some = torch.randint(len(X), (300,), device="cuda", generator=torch.Generator("cuda").manual_seed(1))
        right = 0
        for i in some.tolist():
            d = (X.double() - X[i].double()).square().sum(1)
            d[i] = torch.inf
            right += int(torch.isin(found.indices[i], d.topk(90, largest=False).indices).sum())
        return f"recall {right / (300 * 90):.5f}"

    return lambda: nearest(X, 90), recall


def _divergence(model: Any) -> str:
    stages = ", ".join(f"{name} {1000 * value:.0f}" for name, value in model.timings_.items())
    return f"exact KL {model.kl_divergence_:.4f} ({model.n_iter_} iterations; ms: {stages})"


def _measure(name: str, work: Callable[[], Any], judge: Callable[[Any], str]) -> Run:
    seconds, results = [], []
    for _ in range(1 + _ROUNDS):
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        found = work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
        memory = (torch.cuda.max_memory_allocated() - held) / 2**20
        bits = found.embedding_ if hasattr(found, "embedding_") else found.indices
        results.append(bits.cpu())
    same = all(torch.equal(results[0], other) for other in results[1:])
    return Run(name, seconds[0], seconds[1:], memory, same, judge(found))


def _head() -> str:
    return (
        f"# On a GPU\n\n{torch.cuda.get_device_name()}, torch {torch.__version__}. Seconds from rows on the device to "
        f"the result: the first call of its kind in the process, kernels compiled if need be, and the "
        f"median of {_ROUNDS} more (smallest to largest).\n\n| task | first call | time | memory | same bits | "
        "quality |\n|---|---|---|---|---|---|"
    )


def _row(run: Run) -> str:
    spread = f"{min(run.warm):.3f} to {max(run.warm):.3f}"
    same = "yes" if run.same else "no"
    return (
        f"| {run.task} | {run.first:.2f} s | {median(run.warm):.3f} s ({spread}) | {run.memory:.0f} MB | {same} | "
        f"{run.quality} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
