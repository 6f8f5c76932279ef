#!/usr/bin/env python3
"""The documentation as one book, for mdBook:  packaging/site.py [PROGRAM]  ->  dist/site/

The pages are those of docs/, with the README first and a page of all commands made from the `--help`
of PROGRAM (target/release/caz). Fails on a dead link, on a heading that is not there, and on a page
of docs/ that the table of contents below forgets. Runs `mdbook build` where mdbook is installed.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "dist" / "site"

# The table of contents: what a reader needs first stands first.
CHAPTERS = [
    ("For you", ["chairs", "requesters", "researchers"]),
    ("Using caz", ["imports", "own", "canaries", "llm", "aspects", "judges", "commands"]),
    ("What it computes", ["methods", "glossary"]),
    ("What was measured", ["results", "results-agreement", "scale"]),
    ("Trusting and changing it", ["reliability", "architecture"]),
]

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def without_code(text):
    """The text with fenced blocks and code spans blanked: links in them are no links."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1\s*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """The names under which the headings of a page can be linked to."""
    found = set()
    for line in re.sub(r"(?ms)^(```|~~~).*?^\1\s*$", "", text).splitlines():
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", heading.group(1))
            found.add(re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-"))
    return found


def dead_links(page):
    """The links of a page to files or headings that are not there."""
    for _, target in LINK.findall(without_code(page.read_text())) + PICTURE.findall(page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists():
            yield f"{page.relative_to(ROOT)}: no file {target}"
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked.read_text()):
            yield f"{page.relative_to(ROOT)}: no heading {target}"


def commands(program, words=()):
    """The long help of a command and of all commands below it, as (words, help)."""
    shown = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    yield words, shown
    listed = re.search(r"(?ms)^Commands:\n(.*?)(?:\n\n\S|\Z)", shown)
    for name in re.findall(r"(?m)^  ([a-z][a-z-]*)(?:\s|$)", listed.group(1)) if listed else []:
        if name != "help":
            yield from commands(program, (*words, name))


def page_of_commands(program):
    parts = ["# All commands\n", "Made from `--help`; `caz COMMAND -h` is shorter.\n"]
    for words, shown in commands(program):
        name = " ".join(("caz", *words))
        parts.append(f"{'#' * min(2 + max(len(words) - 1, 0), 4)} {name}\n\n```text\n{shown.rstrip()}\n```\n")
    return "\n".join(parts)


def inside_the_book(text, page):
    """Links out of the book become their text: the sources are not part of it."""

    def changed(match):
        words, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        path, hash_sign, anchor = target.partition("#")
        linked = (page.parent / path).resolve()
        if linked.parent == ROOT / "docs":
            return f"[{words}]({linked.name}{hash_sign}{anchor})"
        return words

    text = PICTURE.sub(lambda m: f"![{m.group(1)}]({Path(m.group(2)).name})", text)
    return LINK.sub(changed, text)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "caz")
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    problems = [problem for page in pages for problem in dead_links(page)]
    named = [name for _, names in CHAPTERS for name in names]
    problems += [
        f"docs/{page.name} is in no chapter of packaging/site.py"
        for page in pages[2:]
        if page.stem not in named
    ]
    if problems:
        sys.exit("\n".join(problems))

    shutil.rmtree(SITE, ignore_errors=True)
    source = SITE / "src"
    source.mkdir(parents=True)
    (source / "README.md").write_text(inside_the_book(pages[0].read_text(), pages[0]))
    for page in pages[2:]:
        (source / page.name).write_text(inside_the_book(page.read_text(), page))
    (source / "commands.md").write_text(page_of_commands(program))
    for pattern in ("*.png", "*.svg", "*.csv"):
        for file in (ROOT / "docs").glob(pattern):
            shutil.copy(file, source)
    shutil.copytree(ROOT / "docs" / "results", source / "results")
    contents = ["# Summary", "", "[caz](README.md)", ""]
    for title, names in CHAPTERS:
        contents += [f"# {title}", ""]
        for name in names:
            page = source / f"{name}.md"
            if page.exists():
                heading = re.search(r"(?m)^# (.*)$", page.read_text()).group(1)
                contents.append(f"- [{heading}]({name}.md)")
        contents.append("")
    (source / "SUMMARY.md").write_text("\n".join(contents))
    (SITE / "book.toml").write_text(
        '[book]\ntitle = "caz"\nlanguage = "en"\nsrc = "src"\n\n[output.html]\nno-section-label = true\n'
    )
    if shutil.which("mdbook"):
        subprocess.run(["mdbook", "build", str(SITE)], check=True)
        print("dist/site/book")
    else:
        print("dist/site (mdbook is not installed: `mdbook build dist/site` makes the pages)")


if __name__ == "__main__":
    main()
