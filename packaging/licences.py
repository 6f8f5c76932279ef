#!/usr/bin/env python3
"""The licences of everything that the program links, from `cargo metadata`.

Without arguments: a list of crates by licence. With --check: fails if a crate has a licence that is
not in ALLOWED, or none; and prints crates that are there in several versions.
"""

import json
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


def packages():
    """Name, version and licence of every crate that a build for any platform can link."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    wanted, queue = set(), [metadata["resolve"]["root"]]
    while queue:
        current = queue.pop()
        if current in wanted:
            continue
        wanted.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                queue.append(dependency["pkg"])
    root = metadata["resolve"]["root"]
    return sorted(
        (package["name"], package["version"], package["license"])
        for package in metadata["packages"]
        if package["id"] in wanted and package["id"] != root
    )


def main():
    rows = packages()
    if "--check" not in sys.argv[1:]:
        for name, version, licence in rows:
            print(f"{name} {version}: {licence or 'see the file that the crate names'}")
        return 0
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
