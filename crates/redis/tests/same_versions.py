"""Holds a lock file to that of the workspace: a package that both have must have a version there, too.

    same_versions.py WORKSPACE_LOCK OWN_LOCK
"""
import sys
import tomllib


def versions(path):
    found = {}
    with open(path, "rb") as file:
        for package in tomllib.load(file)["package"]:
            found.setdefault(package["name"], set()).add(package["version"])
    return found


theirs, ours = (versions(path) for path in sys.argv[1:3])
wrong = [f"{name} {', '.join(sorted(ours[name] - theirs[name]))} here, {', '.join(sorted(theirs[name]))} there" for name in ours if name in theirs and not ours[name] <= theirs[name]]
for line in wrong:
    print(line, file=sys.stderr)
if wrong:
    sys.exit(f"the lock file does not follow the workspace's: `cargo update --manifest-path crates/redis/Cargo.toml -p NAME --precise VERSION`")
