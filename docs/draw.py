#!/usr/bin/env python3
"""Draws docs/DESIGN.md's diagram from the sources: which crate depends on which, and which part of
the numbers imports which. Arrows that follow from others are left out.

    docs/draw.py            draws again
    docs/draw.py --check    fails if the drawing is not that of the sources (.ci/run does)
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "DESIGN.md"
BEGIN, END = "<!-- drawn by docs/draw.py -->\n", "<!-- end of the drawing -->"
# Imported by nearly everything, or only for one feature: they would hide the rest.
OMITTED = {"error", "readable"}


def crates():
    """Each crate's name, and those of this repository that it depends on."""
    manifests = {}
    for path in sorted(ROOT.glob("crates/*/Cargo.toml")):
        text = path.read_text()
        name = re.search(r'^name = "(.+)"', text, re.M).group(1)
        dependencies = text.partition("\n[dependencies]")[2].partition("\n[")[0]
        manifests[name] = set(re.findall(r"^(truebloom[\w-]*)", dependencies, re.M))
    return manifests


def parts(crate):
    """Each module of a crate, and the modules of it that its code imports; tests do not count."""
    source = ROOT / "crates" / crate / "src"
    names = set(re.findall(r"^(?:pub )?mod (\w+);", (source / "lib.rs").read_text(), re.M)) - OMITTED
    imports = {name: set() for name in names}
    for path in source.rglob("*.rs"):
        room = path.relative_to(source).parts[0].removesuffix(".rs")
        if room not in names or path.stem.endswith("tests"):
            continue
        code = re.sub(r"//.*", "", path.read_text().partition("#[cfg(test)]")[0])
        found = re.findall(r"crate::(\w+)", code)
        for group in re.findall(r"use crate::\{(.*?)\};", code, re.S):
            found += re.findall(r"(?:^|,)\s*(\w+)", group)
        imports[room] |= (set(found) & names) - {room}
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
    """The arrows that no longer way implies. Imports in a circle are an error: rooms have an order."""
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
        if drawn != drawing():
            sys.exit("docs/DESIGN.md: the drawing is not that of the sources; run docs/draw.py")
    else:
        PAGE.write_text(before + BEGIN + drawing() + END + after)


if __name__ == "__main__":
    main()
