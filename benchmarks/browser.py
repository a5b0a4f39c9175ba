"""The core in the browser beside umap-js and tsne-js: ``LOWDIM_DATA=… python -m benchmarks.browser``.

Each system is run in node, which has the engine of Chromium, one process for each run; umap-js and tsne-js are
installed from npm into ``build/npm``. lowdim is also timed in Python, and in Chromium and Firefox: from a csv file on
disk, and its core alone from a server, with one thread and with two. The divergence and the neighbours kept are
computed in Python for all. Results go to ``benchmarks/results_browser.md``. Words choose the sets whose titles have
them; the table then has what earlier calls with words have measured of the others, kept in ``build/browser.json``.
"""

import base64
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from benchmarks.firefox import FIREFOX, Firefox
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
PARTS = ROOT / "build" / "browser.json"
PEERS = {"umap-js": "1.4.0", "tsne-js": "1.0.3"}
ROUNDS = 3
MANY = 50_000  # rows of a page at most
_MOST = {"tsne-js": 300, "umap-js": 2000}  # rows of the peers: minutes above
_PART = 4_000_000  # characters that are given to a browser at once
_ONCE = 10.0  # seconds of a peer above which one run is enough

# Runs one system on the rows of a file, and writes its map; {seconds, busy, bytes} to standard output.
PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const [system, from, to] = process.argv.slice(2), require = createRequire("NPM/");
const raw = readFileSync(from), n = raw.readInt32LE(0), d = raw.readInt32LE(4);
const rows = new Float32Array(raw.buffer.slice(raw.byteOffset + 8, raw.byteOffset + 8 + 4 * n * d));
const listed = () => Array.from({ length: n }, (_, i) => Array.from(rows.subarray(i * d, (i + 1) * d)));
let used;
const begin = () => { used = process.cpuUsage(); return performance.now(); };
const write = (Y, seconds) => {
  const { user, system } = process.cpuUsage(used), busy = (user + system) / 1e6;
  writeFileSync(to, Buffer.from(Float32Array.from(Y).buffer));
  const [, peak] = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8")); // maxRSS is that of the parent
  console.log(JSON.stringify({ seconds, busy, bytes: 1024 * peak }));
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
  const start = begin();
  await ask("open", { module: readFileSync("STATIC/engine.wasm") });
  await ask("table", { rows, n, d });
  const { positions } = await ask("embed", { method: system.split(" ")[1] });
  write(positions, (performance.now() - start) / 1000);
} else if (system === "umap-js") {
  const { UMAP } = require("umap-js"), data = listed(), start = begin();
  const Y = new UMAP({ nComponents: 2, nNeighbors: 15, minDist: 0.1 }).fit(data);
  write(Y.flat(), (performance.now() - start) / 1000);
} else {
  const TSNE = require("tsne-js"), data = listed(), log = console.log, start = begin();
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


def in_node(program: Path, system: str, X: np.ndarray, folder: Path) -> tuple[np.ndarray, dict[str, float]]:
    """A map, and its seconds, those of the processor, and bytes of memory."""
    source, target = folder / "rows.bin", folder / "map.bin"
    source.write_bytes(np.array(X.shape, np.int32).tobytes() + np.ascontiguousarray(X, np.float32).tobytes())
    done = subprocess.run(["node", program, system, source, target], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return np.fromfile(target, np.float32).reshape(-1, 2), told


def in_python(method: str, X: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    """A map by the Python class on one thread, its seconds and those of the processor."""
    cls = {"tsne": lowdim.TSNE, "umap": lowdim.UMAP}[method]
    start, busy = time.perf_counter(), time.process_time()
    Y = cls(random_state=0, n_jobs=1).fit_transform(X)
    return np.asarray(Y), {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy}


def browsers(folder: Path) -> dict[str, Any]:
    """How to begin each browser of this machine, by name."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import CHROMIUM, Browser

    fresh = folder / f"profile{time.monotonic_ns()}"
    found = {"Chromium": lambda: Browser(fresh)} if CHROMIUM else {}
    return found | ({"Firefox": lambda: Firefox(fresh)} if FIREFOX else {})


def from_file(browser: Any, X: np.ndarray, folder: Path) -> str:
    """What the page "Try it" takes from a csv file on disk to a map by t-SNE, drawn as it moves."""
    page = folder / "try.html"
    page.write_text(try_page(), encoding="utf-8")
    lines = [",".join(f"x{j}" for j in range(X.shape[1])), *(",".join(f"{v:.6g}" for v in row) for row in X)]
    text = "\n".join(lines)
    try:
        browser.open(page)
        browser.run("(window.parts = [], 1)")
        for at in range(0, len(text), _PART):
            browser.run(f"(window.parts.push({json.dumps(text[at : at + _PART])}), 1)")
        waits = "window.waits = Math.max(window.waits, now - window.last); window.last = now;"
        browser.run(
            "(window.waits = 0, window.last = performance.now(),"
            f"setInterval(() => {{ const now = performance.now(); {waits} }}, 10), 1)"
        )
        start = time.perf_counter()
        browser.run("document.getElementById('page').page.open(new File(window.parts, 'rows.csv')).then(() => 1)")
        read = time.perf_counter() - start
        explorer = "document.getElementById('explorer').explorer"
        while browser.run(f"{explorer}.map.status") != "done" or browser.run(f"{explorer}.map.method") != "tsne":
            time.sleep(0.05)
        seconds = float(browser.run(f"{explorer}.map.seconds"))
        held = float(browser.run("document.getElementById('page').page.channel.told(2).bytes")) / 1e6
        waited = float(browser.run("window.waits"))
    finally:
        browser.close()
    return f"read in {read:.1f} s, map in {seconds:.1f} s | {held:.0f} MB of the core | longest wait {waited:.0f} ms"


def from_server(browser: Any, X: np.ndarray, folder: Path, methods: tuple[str, ...]) -> list[str]:
    """Seconds of the core in an isolated page, nothing drawn, with one thread and with two in turn, by method."""
    sys.path.insert(0, str(ROOT / "docs" / "_site"))
    import serve

    (folder / "try.html").write_text(try_page(), encoding="utf-8")
    text = base64.b64encode(X.tobytes()).decode()
    told = []
    with serve.server(str(folder)) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        try:
            browser.open(f"http://127.0.0.1:{made.server_port}/try.html")
            assert browser.run("crossOriginIsolated")
            browser.run("(window.parts = [], 1)")
            for at in range(0, len(text), _PART):
                browser.run(f"(window.parts.push('{text[at : at + _PART]}'), 1)")
            browser.run(
                "(window.X = new Float32Array(Uint8Array.from(atob(window.parts.join('')),"
                "(c) => c.charCodeAt(0)).buffer), 1)"
            )
            for method in methods:
                taken: dict[int, list[float]] = {1: [], 2: []}
                for _ in range(ROUNDS):
                    for threads, seconds in taken.items():
                        script = f"""(async () => {{
                          const engine = document.getElementById('page').page.newEngine();
                          engine.threads = {threads};
                          engine.table(window.X, {len(X)}, {X.shape[1]});
                          await engine.ask('curve', {{ min_dist: 0.1 }});
                          const start = performance.now();
                          await engine.ask('embed', {{ method: '{method}' }});
                          const taken = performance.now() - start;
                          engine.end(new Error('done'));
                          return taken / 1000;
                        }})()"""
                        seconds.append(float(browser.run(script)))
                one, two = taken[1], taken[2]
                told.append(f"{method}: {spread(one)} with one thread, {spread(two)} with two")
        finally:
            browser.close()
            made.shutdown()
    return told


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


def sets() -> dict[str, np.ndarray]:
    """Rows by name."""
    X = lowdim.data.load("digits")[0]
    found = {"digits, 300 × 64": X[:300], "digits, 1797 × 64": X}
    try:
        M = lowdim.data.load("mnist")[0]
    except FileNotFoundError:
        return found
    order = np.random.default_rng(0).permutation(len(M))
    for n in (10_000, MANY):
        found[f"MNIST, {n:,} × 50"] = lowdim.PCA(50).fit_transform(M[order[:n]].astype(np.float32))
    return found


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{np.median(values):.2f} s ({min(values):.2f}–{max(values):.2f})"


def beside(program: Path, title: str, X: np.ndarray, folder: Path) -> list[str]:
    """Lines of the table: both methods in node, in Python and by the peers."""
    lines = []
    for method, peer in (("tsne", "tsne-js"), ("umap", "umap-js")):
        ours, theirs, native = [], [], []
        for _ in range(ROUNDS if len(X) < MANY else 1):
            Y, told = in_node(program, f"lowdim {method}", X, folder)
            ours.append(told)
            Z, own = in_python(method, X)
            native.append(own)
            if len(X) <= _MOST[peer] and not (theirs and theirs[0]["seconds"] > _ONCE):
                W, other = in_node(program, peer, X, folder)
                theirs.append(other)
        words = [scores(X, map_, method) if len(X) < MANY else "" for map_ in (Y, Z)]
        lines.append(
            f"| {title} | {method} | lowdim in node | {times(ours)} | {told['bytes'] / 1e6:.0f} MB | {words[0]} |"
        )
        lines.append(f"| | | lowdim in Python, one thread | {times(native, ours)} | | {words[1]} |")
        if theirs:
            memory = f"{other['bytes'] / 1e6:.0f} MB"
            lines.append(f"| | | {peer} | {times(theirs, ours)} | {memory} | {scores(X, W, method)} |")
    return lines


def times(taken: list[dict[str, float]], ours: list[dict[str, float]] | None = None) -> str:
    """Seconds, those of the processor, and how many times ours they are."""
    busy = [one["busy"] for one in taken]
    words = f"{spread([one['seconds'] for one in taken])} | {spread(busy)}"
    return words + (f", {np.median(busy) / np.median([one['busy'] for one in ours]):.2g} × node" if ours else "")


def measured(program: Path, title: str, X: np.ndarray, folder: Path) -> dict[str, list[str]]:
    """Lines of one set, by table."""
    found: dict[str, list[str]] = {"lines": beside(program, title, X, folder), "pages": [], "threads": []}
    for browser in browsers(folder):
        found["pages"].append(f"| {title} | {browser} | {from_file(browsers(folder)[browser](), X, folder)} |")
        if "10,000" in title:
            told = from_server(browsers(folder)[browser](), X, folder, ("tsne", "umap"))
            found["threads"] += [f"- {browser}, {title}, {one}" for one in told]
    return found


def main(*wanted: str) -> None:
    """Run all sets, or those wanted, and write the table of all that were ever run."""
    known: dict[str, dict[str, list[str]]] = json.loads(PARTS.read_text()) if wanted and PARTS.exists() else {}
    titles = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = install(folder)
        for title, rows in sets().items():
            titles.append(title)
            if wanted and not any(word in title for word in wanted):
                continue
            known[title] = measured(program, title, np.ascontiguousarray(rows, np.float32), folder)
            print(*(line for part in known[title].values() for line in part), sep="\n", flush=True)
            PARTS.write_text(json.dumps(known))  # also where a limit of time ends this
    lines, pages, threads = (
        [line for title in titles if title in known for line in known[title][part]]
        for part in ("lines", "pages", "threads")
    )
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    told = describe() | {"node": node, **PEERS, "lowdim": version_of("lowdim")}
    sizes = f"{len(module()):,} bytes, {len(packed_module()) * 3 // 4:,} compressed; the page {len(try_page()):,}"
    size = f"The module has {sizes}."
    text = [
        "# In the browser",
        "",
        "The core compiled to WebAssembly (one thread, 128-bit vectors) beside umap-js, tsne-js, and beside Python on",
        f"one thread. Medians and ranges of {ROUNDS} runs in turn, each in a process of its own that also compiles the",
        "module; node runs the same engine as Chromium. Seconds of the processor count the compiler too, and depend",
        f"less on what else the machine does. Peers of more than 10 s and {MANY:,} rows are one run.",
        "tsne-js has its documented parameters (500 iterations). Recall and trustworthiness are of 15 neighbours.",
        "",
        "| data | method | system | seconds | of the processor | memory | quality |",
        "|---|---|---|---|---|---:|---|",
        *lines,
        "",
        'The page "Try it" from a file on disk, one run: a csv file is read and mapped by t-SNE, drawn as it moves by',
        "software, on the same cores. The longest wait is that of a timer of the page.",
        "",
        "| data | browser | from the file to the map | memory | page |",
        "|---|---|---|---|---|",
        *pages,
        "",
        "The core alone in a page that is isolated by the headers of a server:",
        "",
        *threads,
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
