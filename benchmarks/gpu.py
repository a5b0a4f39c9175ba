"""``python -m benchmarks --device cuda [TASK …]``: the methods on one GPU, with the data of LOWDIM_DATA.

Every task is run once with whatever the caches of compiled kernels hold, then for a second, then five times; the rows
are on the device.
"""

import os
import time
from collections.abc import Callable
from importlib.metadata import packages_distributions, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from lowdim import LDA, PCA, SNE, TSNE, UMAP, Isomap, KernelPCA, PaCMAP, quality
from lowdim.backends.torch import cuda_kernels
from lowdim.relate.neighbors import nearest

RESULTS = Path(__file__).with_name("results_gpu.md")
_ROUNDS = 5
_WARM = 1.0  # seconds of calls before they are timed, for the clocks of the processors
_BITS = ("embedding_", "components_", "eigenvectors_", "indices")  # what is compared over rounds
_OTHERS = """
cuML 26.10, measured on a GPU of the same kind with the same rows on another day: t-SNE of MNIST 70,000 × 50 by Fourier
transforms 0.68 s at an exact KL of 3.17, by Barnes-Hut 1.04 s at 2.95; 90 neighbours of 1,000,000 × 50 11.7 s.
"""
_ONCE = "15 neighbours, random numbers 10,000,000 × 16"  # takes long
Task = tuple[Callable[[], Any], Callable[[Any], str]]


class Run(NamedTuple):
    task: str
    first: float
    warm: list[float]
    memory: float
    same: bool
    quality: str


def run(tasks: list[str], out: Path | None) -> int:
    """Measure the tasks whose names begin so, all for none, and write the table after each."""
    rows: list[str] = []
    for name, make in _tasks().items():
        if not tasks or any(name.startswith(part) for part in tasks):
            try:
                rows.append(_row(_measure(name, *make())))
            except (FileNotFoundError, MemoryError, torch.cuda.OutOfMemoryError) as error:
                rows.append(f"| {name} | | | | | not run: {str(error).splitlines()[0]} |")
            torch.cuda.empty_cache()
            print(rows[-1], flush=True)
            if out is not None:
                out.write_text("\n".join([_head(), *rows, _OTHERS]), encoding="utf-8")
    return 0


def _tasks() -> dict[str, Callable[[], Task]]:
    def tsne(X: Any, **options: Any) -> Task:
        method = options.pop("method", TSNE)
        return lambda: method(random_state=0, **options).fit(X), _divergence

    return {
        "t-SNE, MNIST 70,000 × 50": lambda: tsne(_mnist()),
        "t-SNE in Triton alone, MNIST 70,000 × 50": lambda: _in_triton(tsne(_mnist())),
        "t-SNE, flow cytometry 120,000 × 13": lambda: tsne(_flow(120_000)),
        "t-SNE with exact sums, MNIST 70,000 × 50": lambda: tsne(_mnist(), method="exact"),
        "SNE, MNIST 70,000 × 50": lambda: tsne(_mnist(), method=SNE),
        "t-SNE on a line, MNIST 70,000 × 50": lambda: tsne(_mnist(), n_components=1),
        "t-SNE of 550 iterations at most, MNIST 70,000 × 50": lambda: tsne(_mnist(), max_iter=550),
        "UMAP, MNIST 70,000 × 50": lambda: _map(UMAP, _mnist(), _load("mnist", "y")),
        "UMAP, jittered MNIST 1,000,000 × 50": lambda: _map(UMAP, _jittered(1_000_000)),
        "UMAP, flow cytometry 1,000,000 × 13": lambda: _map(UMAP, _flow(1_000_000)),
        "PaCMAP, MNIST 70,000 × 50": lambda: _map(PaCMAP, _mnist(), _load("mnist", "y")),
        "PaCMAP, flow cytometry 1,000,000 × 13": lambda: _map(PaCMAP, _flow(1_000_000)),
        "90 neighbours, MNIST 70,000 × 50": lambda: _neighbors(_mnist(), nearest),
        "90 neighbours in Triton alone, MNIST 70,000 × 50": lambda: _in_triton(_neighbors(_mnist(), nearest)),
        "90 neighbours by torch (products, topk), MNIST 70,000 × 50": lambda: _neighbors(_mnist(), _by_torch),
        "90 neighbours, jittered MNIST 1,000,000 × 50": lambda: _neighbors(_jittered(1_000_000), nearest),
        "90 neighbours in Triton alone, jittered MNIST 1,000,000 × 50": lambda: _in_triton(
            _neighbors(_jittered(1_000_000), nearest)
        ),
        _ONCE: lambda: _neighbors(_random(10_000_000, 16), nearest, 15),
        "15 neighbours by cosine, embeddings 250,000 × 768 in half precision": lambda: _wide(250_000, 768),
        "15 neighbours by cosine, embeddings 1,000,000 × 768 in half precision": lambda: _wide(1_000_000, 768),
        "15 neighbours by cosine, embeddings 1,000,000 × 1,536 in half precision": lambda: _wide(1_000_000, 1536),
        "UMAP by cosine, embeddings 1,000,000 × 768 in half precision": lambda: _map(
            UMAP, _embeddings(1_000_000, 768), metric="cosine"
        ),
        "t-SNE by cosine, embeddings 1,000,000 × 768 in half precision": lambda: tsne(
            _embeddings(1_000_000, 768), metric="cosine"
        ),
        "t-SNE, letters 20,000 × 16": lambda: tsne(_small("letter")),
        "t-SNE, digits 5,620 × 64": lambda: tsne(_small("optdigits")),
        "t-SNE, jittered MNIST 1,000,000 × 50": lambda: tsne(_jittered(1_000_000)),
        "t-SNE, flow cytometry 1,000,000 × 13": lambda: tsne(_flow(1_000_000)),
        "Trustworthiness of a map, MNIST 70,000 × 50": lambda: _trust(_mnist()),
        "PCA, 50 of jittered MNIST 1,000,000 × 784": lambda: _pca(_pixels(1_000_000)),
        "LDA, MNIST 70,000 × 784": lambda: _lda(_pixels(70_000)),
        "Kernel PCA, never stored, 50 of jittered MNIST 100,000 × 784": lambda: _kernel_pca(
            _pixels(100_000), eigen_solver="matrix_free"
        ),
        "Kernel PCA, stored, 50 of jittered MNIST 100,000 × 784": lambda: _kernel_pca(
            _pixels(100_000), eigen_solver="krylov"
        ),
        "Kernel PCA of rank 1,000, 50 of jittered MNIST 100,000 × 784": lambda: _kernel_pca(
            _pixels(100_000), approximation="rpcholesky", rank=1000
        ),
        "Isomap, MNIST 30,000 × 50": lambda: _isomap(_mnist()[:30_000].contiguous()),
        "Isomap, swiss roll 30,000 × 3": lambda: _isomap(_roll(30_000)),
        "Isomap from 1,000 landmarks, MNIST 70,000 × 50": lambda: _isomap(_mnist(), landmarks=1000),
    }


def _in_triton(task: Task) -> Task:
    """The same without kernels in CUDA C++."""
    work, judge = task

    def run() -> Any:
        find = cuda_kernels.find
        cuda_kernels.find = lambda *_, **__: None  # type: ignore[assignment]
        try:
            return work()
        finally:
            cuda_kernels.find = find

    return run, judge


def _load(name: str, key: str | None = None) -> Any:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}.npz") as stored:
        return stored[key or max(stored.files, key=lambda key: stored[key].size)]


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


def _pixels(n: int) -> Any:
    """Images (n, 784) with a little noise, from 0 to about 1."""
    X = torch.as_tensor(_load("mnist").reshape(70_000, -1), device="cuda").float() / 255
    drawn = torch.Generator("cuda").manual_seed(0)
    X = X.repeat(-(-n // len(X)), 1)[:n]
    for block in X.split(100_000):
        block += 0.02 * torch.randn(block.shape, device="cuda", generator=drawn)
    return X


def _flow(n: int) -> Any:
    return torch.as_tensor(_load("flow_cytometry_1m6")[:n], device="cuda").float()


def _random(n: int, d: int) -> Any:
    return torch.randn(n, d, device="cuda", generator=torch.Generator("cuda").manual_seed(0))


def _small(name: str) -> Any:
    return torch.as_tensor(_load(name), device="cuda").float()


def _embeddings(n: int, d: int) -> Any:
    """Rows (n, d) like those of a language model: 2,000 clusters on a curved sheet, of length 1, in half precision."""
    there = {"device": "cuda", "generator": torch.Generator("cuda").manual_seed(0)}
    centres, out = torch.randn(2000, 30, **there), torch.empty(n, d, dtype=torch.float16, device="cuda")
    bend, spread = torch.randn(30, 256, **there) / 30**0.5, torch.randn(256, d, **there) / 16
    for block in out.split(100_000):
        m = len(block)
        z = centres[torch.randint(0, 2000, (m,), **there)] + 0.35 * torch.randn(m, 30, **there)
        x = torch.tanh(z @ bend) @ spread + 0.05 * torch.randn(m, d, **there)
        block.copy_(x / x.norm(dim=1, keepdim=True))
    return out


def _roll(n: int) -> Any:
    t, height = np.random.default_rng(0).random((2, n))
    angle = 1.5 * np.pi * (1 + 2 * t)
    X = np.column_stack([angle * np.cos(angle), 21 * height, angle * np.sin(angle)])
    return torch.as_tensor(X, device="cuda").float()


def _by_torch(X: Any, k: int) -> Any:
    """Neighbours by torch alone, in float32."""
    norms, found = X.square().sum(1), torch.empty(len(X), k, dtype=torch.int64, device="cuda")
    for rows in torch.arange(len(X), device="cuda").split(5000):
        d = norms - 2 * X[rows] @ X.T
        d[torch.arange(len(rows), device="cuda"), rows] = torch.inf
        found[rows] = d.topk(k, largest=False).indices
    return Found(found)


class Found(NamedTuple):
    indices: Any


def _neighbors(X: Any, search: Callable[[Any, int], Any], k: int = 90) -> Task:
    def recall(found: Any) -> str:
        some = torch.randint(len(X), (300,), device="cuda", generator=torch.Generator("cuda").manual_seed(1))
        right = 0
        for i in some.tolist():
            d = (X.double() - X[i].double()).square().sum(1)
            d[i] = torch.inf
            right += int(torch.isin(found.indices[i], d.topk(k, largest=False).indices).sum())
        return f"recall {right / (300 * k):.5f}"

    return lambda: search(X, k), recall


def _wide(n: int, d: int) -> Task:
    """Neighbours of embeddings by cosine; recall is that of directions in float64."""
    X = _embeddings(n, d)

    def recall(found: Any) -> str:
        some = torch.randint(n, (300,), device="cuda", generator=torch.Generator("cuda").manual_seed(1))
        Q = torch.nn.functional.normalize(X[some].double())
        likes = torch.cat([Q @ torch.nn.functional.normalize(block.double()).T for block in X.split(50_000)], dim=1)
        likes[torch.arange(300, device="cuda"), some] = -torch.inf
        best = likes.topk(15).indices
        right = (found.indices[some].long()[:, :, None] == best[:, None, :]).any(2)
        return f"recall {float(right.double().mean()):.5f}"

    return lambda: nearest(X, 15, metric="cosine"), recall


def _pca(X: Any) -> Task:
    def error(model: Any) -> str:
        mean = sum(block.double().sum(0) for block in X.split(50_000)) / len(X)
        scatter = sum((block.double() - mean).T @ (block.double() - mean) for block in X.split(50_000))
        exact = torch.linalg.eigvalsh(scatter / (len(X) - 1)).flip(0)[:50].cpu().numpy()
        return f"relative error of eigenvalues {np.abs(model.explained_variance_ / exact - 1).max():.1e}"

    return lambda: PCA(50).fit(X), error


def _lda(X: Any) -> Task:
    y = _load("mnist", "y")
    return lambda: LDA().fit(X, y), lambda model: f"first ratio {model.eigenvalues_[0]:.4f}"


def _kernel_pca(X: Any, **options: Any) -> Task:
    def error(model: Any) -> str:
        """Of the eigenvalues in the span of the vectors found, with the kernel in float64."""
        V = torch.linalg.qr(model.eigenvectors_.double()).Q
        rows = X.double()
        norms, image = rows.square().sum(1), torch.empty_like(V)
        for some in torch.arange(len(X), device="cuda").split(4096):
            squares = norms[some, None] + norms - 2 * rows[some] @ rows.T
            image[some] = torch.exp(-model.gamma_ * squares.clamp_(min=0)) @ (V - V.mean(0))
        values = torch.linalg.eigvalsh(V.T @ (image - image.mean(0))).flip(0).cpu().numpy()
        lost = f", {model.approximation_error_:.2f} of the trace left out" if "rank" in options else ""
        return f"relative error of eigenvalues {np.abs(model.eigenvalues_ / values - 1).max():.1e}{lost}"

    return lambda: KernelPCA(50, random_state=0, **options).fit(X), error


def _isomap(X: Any, **options: Any) -> Task:
    return (
        lambda: Isomap(2, random_state=0, **options).fit(X),
        lambda model: f"residual variance {model.residual_variance_[-1]:.2g}",
    )


def _trust(X: Any) -> Task:
    Y = X[:, :2].contiguous()
    return lambda: quality.trustworthiness(X, Y, sample=None), lambda found: f"{found:.6f} for two components"


def _map(method: Any, X: Any, y: Any = None, **options: Any) -> Task:
    def judge(model: Any) -> str:
        stages = ", ".join(f"{name} {1000 * value:.0f}" for name, value in model.timings_.items())
        told = f"loss {model.loss_:.6g} ({model.n_iter_} iterations; ms: {stages})"
        if y is None:
            return told
        trust = quality.trustworthiness(X, model.embedding_, 15, sample=2000)
        codes = torch.as_tensor(y.astype(np.int64), device="cuda")
        voted = torch.nn.functional.one_hot(codes[nearest(model.embedding_, 5).indices.long()]).sum(1).argmax(1)
        return f"trustworthiness (15) {trust:.4f}, 5-NN {float((voted == codes).double().mean()):.4f}, {told}"

    return lambda: method(random_state=0, **options).fit(X), judge


def _divergence(model: Any) -> str:
    stages = ", ".join(f"{name} {1000 * value:.0f}" for name, value in model.timings_.items())
    return f"exact KL {model.kl_divergence_:.4f} ({model.n_iter_} iterations; ms: {stages})"


def _measure(name: str, work: Callable[[], Any], judge: Callable[[Any], str]) -> Run:
    seconds, results = [], []
    for done in range(1 if name == _ONCE else 1 + _ROUNDS):
        if done == 1:
            _warm_up(work)
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        found = work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
        memory = (torch.cuda.max_memory_allocated() - held) / 2**20
        bits = next((getattr(found, name) for name in _BITS if hasattr(found, name)), found)
        results.append(torch.as_tensor(bits).cpu())
    same = all(torch.equal(results[0], other) for other in results[1:])
    return Run(name, seconds[0], seconds[1:], memory, same, judge(found))


def _warm_up(work: Callable[[], Any]) -> None:
    start = time.perf_counter()
    while time.perf_counter() - start < _WARM:
        work()
        torch.cuda.synchronize()


def _head() -> str:
    versions = f"torch {torch.__version__}, CuPy {_cupy()}"
    return (
        f"# On a GPU\n\n{torch.cuda.get_device_name()}, {versions}. Seconds from rows on the device to the result: the "
        "first call of its kind in the process, kernels compiled if need be, and after a second of further calls the "
        f"median of {_ROUNDS} (smallest to largest).\n\n"
        "| task | first call | time | memory | same bits | quality |\n|---|---|---|---|---|---|"
    )


def _cupy() -> str:
    """Version of the package that compiles kernels in CUDA C++."""
    return version(found[0]) if (found := packages_distributions().get("cupy")) else "not installed"


def _row(run: Run) -> str:
    warm, same = "–", "–"
    if run.warm:
        warm = f"{median(run.warm):.3f} s ({min(run.warm):.3f} to {max(run.warm):.3f})"
        same = "yes" if run.same else "no"
    return f"| {run.task} | {run.first:.2f} s | {warm} | {run.memory:.0f} MB | {same} | {run.quality} |"
