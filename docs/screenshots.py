"""Screenshots for the documentation: a report, the explorer with a running descent, and the page to try.

Writes report.png, try_it.png, explorer.gif and explorer.png to docs/images. Needs Chromium, ``lowdim[explore]`` and
``lowdim[torch]``; run ``python docs/screenshots.py`` from the project's folder.
"""

import base64
import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import lowdim
from lowdim.explorer.computing_pages import try_page
from lowdim.explorer.opening import open_session
from lowdim.explorer.server import serving

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
from browser import CHROMIUM, Browser, Moved  # noqa: E402

from examples import demo  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1120, 700
E = "document.getElementById('explorer')?.explorer"


def until(browser: Browser, condition: str, seconds: float = 60) -> None:
    """Wait for a condition in the page, where ``e`` is the explorer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if browser.run(f"(() => {{ const e = {E}; return e && ({condition}); }})()"):
                return
        except Moved:
            continue
        time.sleep(0.01)
    raise TimeoutError(condition)


def do(browser: Browser, deed: str) -> None:
    """Do something in the page."""
    browser.run(f"(() => {{ const e = {E}; {deed}; }})()")


def shot(browser: Browser) -> Image.Image:
    """A picture of the page."""
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    data = browser("Page.captureScreenshot", format="png")["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def write_png(picture: Image.Image, path: Path) -> None:
    """A picture in 200 colours, which is half as large and looks the same."""
    picture.quantize(200, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)


def report(browser: Browser, folder: Path) -> None:
    """Write the top of the page of ``make demo``, with the pointer at a row of the first map."""
    demo.main(str(folder / "report.html"))
    browser.open(folder / "report.html", width=1180, height=1345)
    where = "maps[0].root.getBoundingClientRect()"
    place = browser.run(
        f"(() => {{ const b = {where}; return [b.left + maps[0].x(1058), b.top + maps[0].y(1058)]; }})()"
    )
    browser.mouse("Moved", *place)
    write_png(shot(browser).resize((944, 1076), Image.Resampling.LANCZOS), IMAGES / "report.png")


def try_it(browser: Browser, folder: Path) -> None:
    """Write the page to try with a map of the digits that it has computed."""
    path = folder / "try.html"
    path.write_text(try_page(), encoding="utf-8")
    browser.open(path, width=WIDTH, height=HEIGHT)
    browser.run("document.getElementById('page').page.example('digits').then(() => 1)")
    until(browser, "e.map.status === 'done' && e.map.quality?.trustworthiness && e.map.method === 'tsne'")
    write_png(shot(browser), IMAGES / "try_it.png")


def film(browser: Browser) -> list[Image.Image]:
    """Run t-SNE in the page, paused for each picture."""
    do(browser, "void e.runs.run(null)")
    until(browser, "e.map.method === 'tsne' && e.map.frames > 0")
    pictures = []
    while True:
        do(browser, "if (e.map.status === 'running') void e.line.ask('pause', { map: e.map.id }).catch(() => 0)")
        until(browser, "e.map.status !== 'running'")
        frames = browser.run(f"{E}.map.frames")
        pictures.append(shot(browser))
        if browser.run(f"{E}.map.status") == "done":
            return pictures
        do(browser, "void e.line.ask('resume', { map: e.map.id })")
        until(browser, f"(e.map.frames > {frames} && e.map.status === 'running') || e.map.status === 'done'")


def write_gif(pictures: list[Image.Image], path: Path) -> None:
    """All pictures in the colours of the last, each for a tenth of a second, the last one longer."""
    small = [picture.resize((WIDTH * 3 // 4, HEIGHT * 3 // 4), Image.Resampling.LANCZOS) for picture in pictures]
    palette = small[-1].quantize(160, kmeans=3, dither=Image.Dither.NONE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in small]
    pauses = [400] + [110] * (len(frames) - 2) + [2500]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=True)


def main() -> None:
    """Write all pictures."""
    if CHROMIUM is None:
        raise FileNotFoundError("screenshots: Chromium is needed to open the pages. Install it first.")
    X, y = lowdim.data.load("digits")
    folder = Path(tempfile.mkdtemp())
    browser = Browser(folder / "browser")
    try:
        report(browser, folder)
        try_it(browser, folder)
        with serving(open_session(X, y, image_shape=(8, 8), title="digits")) as server:
            browser.open(server.address, width=WIDTH, height=HEIGHT)
            until(browser, "e.map && e.map.cloud.count && e.map.status === 'done'")
            write_gif(film(browser), IMAGES / "explorer.gif")
            browser("Emulation.setDeviceMetricsOverride", width=1400, height=860, deviceScaleFactor=1, mobile=False)
            do(browser, "e.panes.arrange(2)")
            row = int(np.flatnonzero(y == 3)[40])
            inside = "Uint8Array.from(e.legend.shades, (digit) => (digit === 3 || digit === 8 ? 1 : 0))"
            do(browser, f"void e.choose({inside})")
            until(browser, "!e.choice.hidden")
            do(browser, f"void e.hold({row})")
            until(browser, "e.links && e.rowKnown.cells")
            do(browser, "e.root.querySelector('.side').scrollTop = 130")
            write_png(shot(browser), IMAGES / "explorer.png")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
