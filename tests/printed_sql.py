#!/usr/bin/env python3
"""Runs the SQL of `caz labels --print-sql duckdb` in DuckDB and compares its scores with caz's own.

    pip install duckdb
    python tests/sql_in_duckdb.py target/release/caz [FOLDER OF LABEL SETS]

A label set is a folder `labels-*` with `labels.csv` and, for the mechanisms that need an LLM,
`z.csv`. Ends with code 1 if a score, a missing score or a number of tasks differs, or the majority vote.
"""

import collections
import csv
import pathlib
import subprocess
import sys
import tempfile

import duckdb

TOLERANCE = 1e-9
WITH_Z = ["ca_z", "ca", "oa", "oa_z", "ds", "ds_z", "neg_z"]
WITHOUT_Z = ["ca", "oa", "ds"]
# A script cannot stop early.
ITERATIONS = ["--max-iterations", "8", "--tolerance", "0"]


def label_sets(folder):
    """Name, labels, Z of every set: the project's own, made ones that are hard, and those of `folder`."""
    here = pathlib.Path(__file__).parent.parent / "data"
    yield "data", here / "labels.csv", [here / "llm-labels.csv"]
    if folder is not None:
        found = sorted(folder.glob("labels-*"))
        assert found, f"there is no label set in {folder}"
        for place in found:
            z = place / "z.csv"
            yield place.name, place / "labels.csv", [z] if z.exists() else []


def hard_sets(folder):
    """A crowd with gaps: tasks with one label, workers with one task, samples, labels that only the LLM has."""
    labels, z = folder / "hard.tsv", folder / "hard-z.csv"
    with open(labels, "w", newline="") as file:
        write = csv.writer(file, delimiter="\t", lineterminator="\n").writerow
        write(["item", "annotator", "answer"])
        for task in range(60):
            for worker in range(12):
                # Integers that mix well, so that the set is the same everywhere.
                mixed = (task * 2654435761 + worker * 40503 + task * worker * 97) % 1009
                if mixed % 3 == 0 or (task % 10 == 0 and worker > 0):
                    continue
                label = ["it's", 'a "b"', "c,d", " e "][mixed % 4 if mixed % 5 else task % 4]
                write([f"q {task}", f"w{worker}", label])
        write(["q 1", "newcomer", "c,d"])
    with open(z, "w", newline="") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(["task", "label", "model", "sample"])
        for task in range(70):
            for sample in ["10", "2", "b"]:
                # The samples 2, then 10, then b count; some are missing.
                if (task + len(sample) * 7 + ord(sample[0])) % 3:
                    write([f"q {task}", ["it's", "e", "only the LLM"][(task + ord(sample[0])) % 3], "one", sample])
            if task % 4:
                write([f"q {task}", ["c,d", 'a "b"'][task % 2], "two", ""])
    yield "hard", labels, [z]


def compare(caz, labels, z, mechanisms, flags=()):
    """The largest difference of a score, and how many scores there are."""
    arguments = [caz, "labels", str(labels), "--mechanism", ",".join(mechanisms), *flags, *ITERATIONS]
    if z:
        arguments += ["--z", *map(str, z)]
    exact = [*arguments, "--exact-labels", "--quiet", "--format", "csv"]
    own = subprocess.run(exact, check=True, capture_output=True, text=True).stdout
    sql = subprocess.run([*arguments, "--print-sql", "duckdb"], check=True, capture_output=True, text=True).stdout
    wanted = {}
    for row in csv.DictReader(own.splitlines()):
        score = float(row["score"]) if row["score"] else None
        wanted[row["worker"], row["mechanism"]] = (score, int(row["n_tasks"]))
    database = duckdb.connect()
    got = {row[:2]: row[2:4] for row in database.execute(sql).fetchall()}
    assert database.execute("SELECT COUNT(*) FROM second_labels").fetchone() == (0,)
    assert wanted.keys() == got.keys(), wanted.keys() ^ got.keys()
    assert dict(database.execute("SELECT task, label FROM majority").fetchall()) == majority(database)
    largest = 0.0
    for key, (score, tasks) in wanted.items():
        assert tasks == got[key][1], (key, tasks, got[key])
        assert (score is None) == (got[key][0] is None), (key, score, got[key])
        if score is not None:
            largest = max(largest, abs(score - got[key][0]))
    return largest, len(wanted)


def majority(database):
    """The label that most people give, counted here; without the tasks where labels tie."""
    votes = collections.defaultdict(collections.Counter)
    for task, label in database.execute("SELECT task, label FROM labels").fetchall():
        votes[task][label] += 1
    ranked = {task: counts.most_common(2) for task, counts in votes.items()}
    return {
        task: first[0]
        for task, (first, *others) in ranked.items()
        if not others or others[0][1] < first[1]
    }


def main():
    caz = sys.argv[1]
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    failed = False
    with tempfile.TemporaryDirectory() as made:
        for name, labels, z in [*label_sets(folder), *hard_sets(pathlib.Path(made))]:
            mechanisms = WITH_Z if z else WITHOUT_Z
            for flags in [(), ("--renormalize-strata",)]:
                largest, scores = compare(caz, labels, z, mechanisms, flags)
                failed |= largest > TOLERANCE
                print(f"{name}: {scores} scores {' '.join(flags)}, largest difference {largest:.1e}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
