#!/usr/bin/env python3
"""Draws the diagram in docs/DESIGN.md from the sources. It shows which crate depends on which, and
which module of truebloom-math imports which. Arrows that follow from other arrows are left out.

    docs/draw.py            draws the diagram again
    docs/draw.py --check    fails if the diagram is out of date (.ci/run calls this)
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "DESIGN.md"
BEGIN, END = "<!-- drawn by docs/draw.py -->\n", "<!-- end of the drawing -->"
# Modules that are not drawn, because nearly all modules import them, or because they are used only
# for one feature. Their arrows would hide the others.
OMITTED = {"error", "readable"}


def crates():
    """The name of each crate, and the crates of this repository on which it depends."""
    manifests = {}
    for path in sorted(ROOT.glob("crates/*/Cargo.toml")):
        text = path.read_text()
        name = re.search(r'^name = "(.+)"', text, re.M).group(1)
        dependencies = text.partition("\n[dependencies]")[2].partition("\n[")[0]
        manifests[name] = set(re.findall(r"^(truebloom[\w-]*)", dependencies, re.M))
    return manifests


def parts(crate):
    """Each module of a crate, and the modules of this crate that its code imports, without tests."""
    source = ROOT / "crates" / crate / "src"
    root = (source / "lib.rs").read_text()
    names = set(re.findall(r"^(?:pub )?mod (\w+);", root, re.M)) - OMITTED
    # `crate::Plan` counts as an import of the module `plan`, which defines it.
    homes = {}
    for home, exported in re.findall(r"^pub use (\w+)::(.*?);", root, re.M | re.S):
        homes |= {name: home for name in re.findall(r"\w+", exported)}
    imports = {name: set() for name in names}
    for path in source.rglob("*.rs"):
        room = path.relative_to(source).parts[0].removesuffix(".rs")
        if room not in names or path.stem.endswith("tests"):
            continue
        code = re.sub(r"//.*", "", re.split(r"#\[cfg\((?:all\()?test", path.read_text())[0])
        found = re.findall(r"crate::(\w+)", code)
        for group in re.findall(r"use crate::\{(.*?)\};", code, re.S):
            found += re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group))
        imports[room] |= ({homes.get(name, name) for name in found} & names) - {room}
    return imports


def reachable(graph, start):
    seen, left = set(), list(graph[start])
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            left += graph.get(node, ())
    return seen


def needed(graph):
    """The arrows that do not follow from a longer path. Circular imports are an error."""
    for node in graph:
        if node in reachable(graph, node):
            sys.exit(f"{node} imports itself, by way of {', '.join(sorted(graph[node]))}")
    for node in sorted(graph):
        for target in sorted(graph[node]):
            if not any(target in reachable(graph, other) for other in graph[node] - {target}):
                yield node, target


def drawing():
    lines = ["```mermaid", "flowchart BT"]
    lines += ['    subgraph numbers["the parts of truebloom-math"]']
    lines += [f"        {node} --> {target}" for node, target in needed(parts("math"))]
    lines += ["    end", "    truebloom-math --- numbers"]
    lines += [f"    {node} --> {target}" for node, target in needed(crates())]
    return "\n".join(lines + ["```", ""])


def main():
    before, rest = PAGE.read_text().split(BEGIN)
    drawn, after = rest.split(END)
    if "--check" in sys.argv[1:]:
        # The filter crate has too many arrows to draw, but it must not have circular imports
        # either.
        list(needed(parts("filter")))
        if drawn != drawing():
            sys.exit("docs/DESIGN.md: the drawing is not that of the sources; run docs/draw.py")
    else:
        PAGE.write_text(before + BEGIN + drawing() + END + after)


if __name__ == "__main__":
    main()
