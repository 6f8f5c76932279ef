#!/usr/bin/env python3
"""The licences of everything that the program links, from `cargo tree`.

Without arguments: a list of crates by licence. With --check, of caz-sql too: fails if a crate has a licence that is
not in ALLOWED, or none; and prints crates that are there in several versions.
"""

import re
import subprocess
import sys

# Permissive licences, and MPL-2.0, whose terms hold for its own files only.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "OpenSSL", "Unicode-3.0",
    "Unicode-DFS-2016", "Unlicense", "Zlib", "bzip2-1.0.6",
}


def alternatives(expression):
    """The sets of licences one of which has to be accepted: `A OR (B AND C)` is [{A}, {B, C}]."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    position = 0

    def parse_or():
        nonlocal position
        result = parse_and()
        while position < len(tokens) and tokens[position] == "OR":
            position += 1
            result = result + parse_and()
        return result

    def parse_and():
        nonlocal position
        result = parse_one()
        while position < len(tokens) and tokens[position] == "AND":
            position += 1
            right = parse_one()
            result = [left | other for left in result for other in right]
        return result

    def parse_one():
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":
            result = parse_or()
            position += 1
            return result
        if position < len(tokens) and tokens[position] == "WITH":
            token = f"{token} WITH {tokens[position + 1]}"
            position += 2
        return [{token}]

    return parse_or()


def packages(*crates):
    """Name, version and licence of every crate that a build of these for any platform can link."""
    command = ["cargo", "tree", "--locked", "--edges", "normal,build", "--target", "all", "--prefix", "none", "--format", "{p}|{l}"]
    command += [part for crate in crates for part in ("--package", crate)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = set()
    for line in filter(None, listed.splitlines()):
        crate, licence = line.removesuffix(" (*)").split("|")
        name, version, *_ = crate.split()
        if name not in crates:
            found.add((name, version.removeprefix("v"), licence or None))
    return sorted(found, key=lambda row: row[:2])


def main():
    if "--check" not in sys.argv[1:]:
        for name, version, licence in packages("caz", "caz-gguf"):
            print(f"{name} {version}: {licence or 'see the file that the crate names'}")
        return 0
    rows = packages("caz", "caz-gguf", "caz-sql")
    wrong = [
        row for row in rows
        if row[2] is None or not any(choice <= ALLOWED for choice in alternatives(row[2]))
    ]
    for name, version, licence in wrong:
        print(f"not allowed: {name} {version}: {licence}")
    versions = {}
    for name, version, _ in rows:
        versions.setdefault(name, []).append(version)
    several = {name: found for name, found in versions.items() if len(found) > 1}
    for name, found in sorted(several.items()):
        print(f"several versions: {name} {', '.join(found)}")
    print(f"{len(rows)} crates, {len(wrong)} with a licence that is not allowed, {len(several)} in several versions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
