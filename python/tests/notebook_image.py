"""Draws the table that a notebook shows, on a light and on a dark ground: `notebook_image.py FOLDER`, with Chromium. The README shows these two, and people look at them before a release."""

import subprocess
import sys
from pathlib import Path

from truebloom import BloomFilter

STYLE = """body{margin:0;padding:14px 18px;font:14px/1.4 system-ui,'DejaVu Sans',sans-serif;background:BACK;color:TEXT} .cell{display:flex;gap:12px}
.count{color:#888;font-family:monospace} pre{margin:0 0 8px}"""


def main(folder: Path) -> None:
    seen = BloomFilter(500_000, "0.1%", seed=42)
    seen.update(f"https://example.org/{i}" for i in range(400_000))
    cell = f"<div class=cell><div class=count>[3]:</div><div><pre>seen</pre>{seen._repr_html_()}</div></div>"
    for name, (back, text) in {"light": ("#fff", "#111"), "dark": ("#111", "#eee")}.items():
        page = folder / f"{name}.html"
        page.write_text(f"<meta charset=utf-8><style>{STYLE.replace('BACK', back).replace('TEXT', text)}</style>{cell}")
        picture = f"--screenshot={folder / f'notebook-{name}.png'}"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=620,170", picture]
        subprocess.run(["chromium", *options, page.resolve().as_uri()], check=True, capture_output=True, timeout=120)
        page.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
