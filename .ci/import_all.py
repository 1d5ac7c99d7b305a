"""Import every module of an installed package, and look for the files that a distribution must carry.

Usage: import_all.py PACKAGE
"""

import importlib
import importlib.metadata
import importlib.resources
import pkgutil
import sys


def modules_of(package: str) -> list[str]:
    """Return the dotted names of the package and of all its modules, those that start a program left out."""
    root = importlib.import_module(package)
    found = pkgutil.walk_packages(root.__path__, prefix=f"{package}.")
    return [package, *(module.name for module in found if not module.name.endswith(".__main__"))]


def missing_files(package: str) -> list[str]:
    """Return which of the typing marker and the licence text the installed distribution lacks."""
    distribution = importlib.metadata.distribution(package.replace("_", "-"))
    missing = [] if importlib.resources.files(package).joinpath("py.typed").is_file() else ["py.typed"]
    names = [path.name for path in distribution.files or []]
    return missing + ([] if "LICENSE" in names else ["LICENSE"])


def main() -> int:
    """Import, report, and return the exit status."""
    package = sys.argv[1]
    names = modules_of(package)
    for name in names:
        importlib.import_module(name)
    for entry in importlib.metadata.distribution(package.replace("_", "-")).entry_points:
        entry.load()
    missing = missing_files(package)
    print(f"{package}: {len(names)} modules imported" + (f"; missing: {', '.join(missing)}" if missing else ""))
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
