"""The core in the browser beside umap-js and tsne-js: ``LOWDIM_DATA=… python -m benchmarks.browser``.

Each system is run in node, which has the engine of Chromium, one process for each run; umap-js and tsne-js are
installed from npm into ``build/npm``. lowdim is also timed in Chromium, from a file, and in Python. The divergence and
the neighbours kept are computed in Python for all. Results go to ``benchmarks/results_browser.md``.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import lowdim
from benchmarks.machine import describe, version_of
from lowdim import quality
from lowdim.explorer.computing_pages import try_page
from lowdim.relate.affinities import affinities, likelihoods, neighbors_for
from lowdim.relate.neighbors import nearest
from lowdim.show.computing import module, packed_module
from lowdim.solve.divergence import Falloff, divergence

ROOT = Path(__file__).parents[1]
NPM = ROOT / "build" / "npm"
STATIC = ROOT / "src" / "lowdim" / "explorer" / "static"
OUT = Path(__file__).parent / "results_browser.md"
PEERS = {"umap-js": "1.4.0", "tsne-js": "1.0.3"}
ROUNDS = 3
_MOST = {"tsne-js": 300, "umap-js": 2000}  # rows of the peers: minutes above
_ONCE = 10.0  # seconds of a peer above which one run is enough

# Runs one system on the rows of a file, and writes its map; {seconds, bytes} to standard output.
PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const [system, from, to] = process.argv.slice(2), require = createRequire("NPM/");
const raw = readFileSync(from), n = raw.readInt32LE(0), d = raw.readInt32LE(4);
const rows = new Float32Array(raw.buffer.slice(raw.byteOffset + 8, raw.byteOffset + 8 + 4 * n * d));
const listed = () => Array.from({ length: n }, (_, i) => Array.from(rows.subarray(i * d, (i + 1) * d)));
const write = (Y, seconds) => {
  writeFileSync(to, Buffer.from(Float32Array.from(Y).buffer));
  console.log(JSON.stringify({ seconds, bytes: process.resourceUsage().maxRSS * 1024 }));
};
if (system.startsWith("lowdim")) {
  const { engineWorker } = await import("STATIC/engine_worker.mjs");
  const scope = {}, waiting = new Map();
  let count = 0;
  scope.postMessage = ({ id, answer, error }) => {
    if (answer) waiting.get(id)[0](answer);
    else if (error) waiting.get(id)[1](new Error(error));
  };
  engineWorker(scope);
  const ask = (deed, fields = {}) => new Promise((keep, refuse) => {
    waiting.set(++count, [keep, refuse]);
    scope.onmessage({ data: { id: count, deed, ...fields } });
  });
  const start = performance.now();
  await ask("open", { module: readFileSync("STATIC/engine.wasm") });
  await ask("table", { rows, n, d });
  const { positions } = await ask("embed", { method: system.split(" ")[1] });
  write(positions, (performance.now() - start) / 1000);
} else if (system === "umap-js") {
  const { UMAP } = require("umap-js"), data = listed(), start = performance.now();
  const Y = new UMAP({ nComponents: 2, nNeighbors: 15, minDist: 0.1 }).fit(data);
  write(Y.flat(), (performance.now() - start) / 1000);
} else {
  const TSNE = require("tsne-js"), data = listed(), log = console.log, start = performance.now();
  console.log = () => {};
  const model = new TSNE({ dim: 2, perplexity: 30, earlyExaggeration: 4, learningRate: 100, nIter: 500,
    metric: "euclidean" });
  model.init({ data, type: "dense" });
  model.run();
  const Y = model.getOutput(), seconds = (performance.now() - start) / 1000;
  console.log = log;
  write(Y.flat(), seconds);
}
"""


def install(folder: Path) -> Path:
    """The program, and what it needs."""
    NPM.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in PEERS.items()]
    if not all((NPM / "node_modules" / name).is_dir() for name in PEERS):
        subprocess.run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", NPM, *wanted], check=True)
    (folder / "engine_worker.mjs").write_text((STATIC / "engine_worker.js").read_text())
    (folder / "engine.wasm").write_bytes(module())
    program = folder / "run.mjs"
    program.write_text(PROGRAM.replace("NPM", str(NPM)).replace("STATIC", str(folder)))
    return program


def in_node(program: Path, system: str, X: np.ndarray, folder: Path) -> tuple[np.ndarray, float, float]:
    """A map, its seconds and its memory in bytes."""
    source, target = folder / "rows.bin", folder / "map.bin"
    source.write_bytes(np.array(X.shape, np.int32).tobytes() + np.ascontiguousarray(X, np.float32).tobytes())
    done = subprocess.run(["node", program, system, source, target], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return np.fromfile(target, np.float32).reshape(-1, 2), told["seconds"], told["bytes"]


def in_python(method: str, X: np.ndarray) -> tuple[np.ndarray, float]:
    """A map by the Python class on one thread, and its seconds."""
    cls = {"tsne": lowdim.TSNE, "umap": lowdim.UMAP}[method]
    start = time.perf_counter()
    Y = cls(random_state=0, n_jobs=1).fit_transform(X)
    return np.asarray(Y), time.perf_counter() - start


def in_chromium(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[float, float, float]:
    """Seconds from a csv file to the table, seconds of t-SNE, and bytes of the core's memory, in a page from a file."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import Browser

    page = folder / "try.html"
    page.write_text(try_page(), encoding="utf-8")
    names = [*(f"x{j}" for j in range(X.shape[1])), "label"]
    lines = [",".join(names), *(",".join([*(f"{v:.6g}" for v in row), str(k)]) for row, k in zip(X, y, strict=True))]
    browser = Browser(folder / f"profile{time.monotonic_ns()}")
    try:
        browser.open(page)
        text = json.dumps("\n".join(lines))
        browser.run(f"globalThis.file = new File([{text}], 'rows.csv'), 1")
        start = time.perf_counter()
        browser.run("document.getElementById('page').page.open(file).then(() => 1)")
        read = time.perf_counter() - start
        explorer = "document.getElementById('explorer').explorer"
        while browser.run(f"{explorer}.map.status") != "done" or browser.run(f"{explorer}.map.method") != "tsne":
            time.sleep(0.02)
        seconds = float(browser.run(f"{explorer}.map.seconds"))
        held = float(browser.run("document.getElementById('page').page.channel.told(2).bytes"))
        return read, seconds, held
    finally:
        browser.close()


def scores(X: np.ndarray, Y: np.ndarray, method: str) -> str:
    """Divergence of a map by t-SNE, and the neighbours that a map keeps."""
    kept = float(quality.neighborhood_recall(X, Y, 15))
    trust = float(quality.trustworthiness(X, Y, 15))
    words = f"recall {kept:.3f}, trustworthiness {trust:.3f}"
    if method != "tsne":
        return words
    near = nearest(X, neighbors_for(30.0, len(X)))
    P = affinities(near.indices, likelihoods(near.distances, [30.0])[0])
    return f"KL {divergence(tuple(P), np.ascontiguousarray(Y, np.float32), Falloff('student')).value:.3f}, {words}"


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows and labels by name."""
    X, y = lowdim.data.load("digits")
    found = {"digits, 300 × 64": (X[:300], y[:300]), "digits, 1797 × 64": (X, y)}
    try:
        M, labels = lowdim.data.load("mnist")
    except FileNotFoundError:
        return found
    some = np.random.default_rng(0).permutation(len(M))[:10_000]
    scores_ = lowdim.PCA(50).fit_transform(M[some].astype(np.float32))
    return found | {"MNIST, 10,000 × 50": (scores_, labels[some])}


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{np.median(values):.2f} s ({min(values):.2f}–{max(values):.2f})"


def main(*wanted: str) -> None:
    """Run all, and write the table."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = install(folder)
        for title, (X, y) in sets().items():
            if wanted and not any(word in title for word in wanted):
                continue
            X = np.ascontiguousarray(X, np.float32)
            for method, peer in (("tsne", "tsne-js"), ("umap", "umap-js")):
                ours, theirs, native = [], [], []
                for _ in range(ROUNDS):
                    Y, seconds, held = in_node(program, f"lowdim {method}", X, folder)
                    ours.append(seconds)
                    Z, seconds = in_python(method, X)
                    native.append(seconds)
                    if len(X) <= _MOST[peer] and not (theirs and theirs[0] > _ONCE):
                        W, seconds, peer_held = in_node(program, peer, X, folder)
                        theirs.append(seconds)
                memory = f"{held / 1e6:.0f} MB"
                told = f"| {title} | {method} | lowdim in node | {spread(ours)} | {memory} | {scores(X, Y, method)} |"
                lines += [told, f"| | | lowdim in Python, one thread | {spread(native)} | | {scores(X, Z, method)} |"]
                if theirs:
                    ratio = np.median(theirs) / np.median(ours)
                    words = f"{spread(theirs)}, {ratio:.0f} times ours"
                    lines.append(f"| | | {peer} | {words} | {peer_held / 1e6:.0f} MB | {scores(X, W, method)} |")
                else:
                    lines.append(f"| | | {peer} | not run: minutes for so many rows | | |")
                print(*lines[-3:], sep="\n", flush=True)
            read, seconds, held = in_chromium(X, y, folder)
            lines.append(
                f"| | tsne | lowdim in Chromium, from a csv file | read in {read:.2f} s, map in {seconds:.2f} s | "
                f"{held / 1e6:.0f} MB of the core | |"
            )
            print(lines[-1], flush=True)
    if wanted:
        return
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    told = describe() | {"node": node, **PEERS, "lowdim": version_of("lowdim")}
    sizes = f"{len(module()):,} bytes, {len(packed_module()) * 3 // 4:,} compressed; the page {len(try_page()):,}"
    size = f"The module has {sizes}."
    text = [
        "# In the browser",
        "",
        "The core compiled to WebAssembly (one thread, 128-bit vectors) beside umap-js, tsne-js, and beside Python on",
        f"one thread. Medians and ranges of {ROUNDS} runs in turn, each in a process of its own that also compiles the",
        "module; node runs the same engine as Chromium. The figure in Chromium is one run.",
        "So are those of peers of more than 10 s. tsne-js has its documented parameters (500 iterations).",
        "Recall and trustworthiness are of 15 neighbours.",
        "",
        "| data | method | system | seconds | memory | quality |",
        "|---|---|---|---|---:|---|",
        *lines,
        "",
        size,
        "",
        *(f"- {name}: {value}" for name, value in told.items()),
        "- command: `LOWDIM_DATA=… python -m benchmarks.browser`",
        "",
    ]
    OUT.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
