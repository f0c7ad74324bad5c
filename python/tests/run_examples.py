"""Runs the examples in the docstrings of the package, native ones too, and those of Markdown files."""

import doctest
import inspect
import os
import re
import sys
import tempfile
from pathlib import Path

import truebloom
from truebloom import _truebloom

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def documented(thing, name, seen):
    """The object, and what is in it."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(text := inspect.getdoc(thing), str) and ">>>" in text:
        yield name, text
    if inspect.isclass(thing) or inspect.ismodule(thing):
        for part, member in sorted(vars(thing).items()):
            own = getattr(member, "__module__", None) or ""
            if not part.startswith("__") and (inspect.isclass(thing) or own.startswith("truebloom") or inspect.isbuiltin(member)):
                yield from documented(member, f"{name}.{part}", seen)


def main(files):
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    parser, names = doctest.DocTestParser(), {**vars(truebloom), "truebloom": truebloom}
    examples = [(name, text, {**names, **vars(module)}) for module, label in ((truebloom, "truebloom"), (_truebloom, "native"), (truebloom.laws, "laws"))
                for name, text in documented(module, label, set())]  # fmt: skip
    for file in files:
        blocks = re.findall(r"```python\n(.*?)```", Path(file).read_text(), re.S)
        examples.append((Path(file).name, "\n".join(block for block in blocks if ">>>" in block), {"truebloom": truebloom}))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text, scope in examples:
            runner.run(parser.get_doctest(text, dict(scope), name, None, 0))
    print(f"{runner.tries} passed, {runner.failures} failed")
    sys.exit(1 if runner.failures or runner.tries < 20 else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
