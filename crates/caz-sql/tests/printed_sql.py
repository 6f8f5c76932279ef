#!/usr/bin/env python3
"""Runs the SQL of `caz-sql print` in an engine and compares its scores with caz's own.

    python crates/caz-sql/tests/printed_sql.py ENGINE target/release/caz target/release/caz-sql [FOLDER OF LABEL SETS]

ENGINE is `duckdb` (pip install duckdb), `duckdb-ansi` (the text for every engine, in DuckDB), `spark`
(pip install pyspark, and a Java) or `postgresql`: the text for every engine again, in the server that
`psql` finds by PGHOST and the like, in whose database it makes the schema `caz_plan` anew.

A label set is a folder `labels-*` with `labels.csv` and, for the mechanisms that need an LLM,
`z.csv`. Ends with code 1 if a score, a missing score or a number of tasks differs, or the majority vote.
"""

import collections
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

TOLERANCE = 1e-9
WITH_Z = ["ca_z", "ca", "oa", "oa_z", "ds", "neg_z"]
WITHOUT_Z = ["ca", "oa", "ds"]
# A script cannot stop early.
ITERATIONS = ["--max-iterations", "8"]
# What is asked besides the scores.
BESIDES = [
    "SELECT task, worker FROM second_labels",
    "SELECT task, label FROM majority",
    "SELECT task, label FROM labels",
]


class DuckDb:
    """In this process."""

    def __init__(self, dialect="duckdb"):
        import duckdb

        self.connect, self.dialect = duckdb.connect, dialect

    def run(self, script, tables):
        """The scores, then the answers to BESIDES."""
        database = self.connect()
        if self.dialect == "ansi":
            for name, (columns, rows) in tables.items():
                database.execute(f"CREATE TABLE {name} ({', '.join(f'{column} VARCHAR' for column in columns)})")
                database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' for _ in columns)})", rows)
        return [database.execute(query).fetchall() for query in [script, *BESIDES]]


class Spark:
    """In a process that is started here, with two threads; its tables lie in a temporary folder."""

    dialect = "spark"

    def __init__(self):
        from pyspark.sql import SparkSession

        self.folder = tempfile.TemporaryDirectory()
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.warehouse.dir", self.folder.name).config("spark.sql.shuffle.partitions", 2)
        self.session = builder.config("spark.driver.memory", "3g").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def run(self, script, tables):
        """As above."""
        queries = [statement for statement in script.split(";\n") if statement.strip()]
        rows = [self.session.sql(query) for query in queries][-1].collect()
        return [[tuple(row) for row in rows], *([tuple(row) for row in self.session.sql(q).collect()] for q in BESIDES)]


class PostgreSql:
    """In a server that is there."""

    dialect = "ansi"

    def run(self, script, tables):
        """As above."""
        text = "DROP SCHEMA IF EXISTS caz_plan CASCADE;\nCREATE SCHEMA caz_plan;\nSET search_path = caz_plan;\n"
        for name, (columns, rows) in tables.items():
            file = io.StringIO()
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            text += f"CREATE TABLE {name} ({', '.join(f'{column} TEXT' for column in columns)});\n"
            text += f"COPY {name} FROM STDIN WITH (FORMAT csv);\n{file.getvalue()}\\.\n"
        parts = [script, *(f"{query};\n" for query in BESIDES)]
        text += "\\echo ====\n".join(parts)
        command = ["psql", "--no-psqlrc", "--quiet", "--csv", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
        said = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
        scores, *besides = (list(csv.reader(part.splitlines())) for part in said.split("====\n"))
        scores = [(worker, name, float(score) if score else None, int(tasks)) for worker, name, score, tasks, _ in scores]
        return [scores, *([tuple(row) for row in rows] for rows in besides)]


ENGINES = {
    "duckdb": DuckDb,
    "duckdb-ansi": lambda: DuckDb("ansi"),
    "spark": Spark,
    "postgresql": PostgreSql,
}


def label_sets(folder):
    """Name, labels, Z of every set: the project's own, made ones that are hard, and those of `folder`."""
    here = pathlib.Path(__file__).parents[3] / "data"
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


def tables(labels, z):
    """The relations that the text for every engine asks for, by name: columns and rows."""
    made = {"labels": (("task", "worker", "label"), list(rows(labels, TASK, WORKER, LABEL)))}
    if z:
        of_llm = [row for path in z for row in rows(path, TASK, LABEL, SOURCE, SAMPLE)]
        sources = (path.stem for path in z for _ in rows(path, TASK))
        of_llm = [(task, label, source or stem, sample) for (task, label, source, sample), stem in zip(of_llm, sources)]
        made["z"] = (("task", "label", "source", "sample"), of_llm)
    return made


# Names of columns in the label sets.
TASK, WORKER, LABEL = ("task", "item"), ("worker", "annotator"), ("label", "answer")
SOURCE, SAMPLE = ("source", "model"), ("sample",)


def rows(path, *columns):
    """Of each row the columns, each under one of its names; empty where there is none."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","):
            yield tuple(next((row[name].strip() for name in names if name in row), "") for names in columns)


def compare(engine, programs, labels, z, mechanisms):
    """The largest difference of a score, and how many scores there are."""
    arguments = [str(labels), "--mechanism", ",".join(mechanisms), *ITERATIONS]
    if z:
        arguments += ["--z", *map(str, z)]
    caz, caz_sql = programs
    exact = [caz, "labels", *arguments, "--learn-from", "all", "--exact-labels", "--quiet", "--format", "csv"]
    own = subprocess.run(exact, check=True, capture_output=True, text=True).stdout
    sql = [caz_sql, "print", *arguments, "--dialect", engine.dialect]
    sql = subprocess.run(sql, check=True, capture_output=True, text=True).stdout
    wanted = {}
    for row in csv.DictReader(own.splitlines()):
        score = float(row["score"]) if row["score"] else None
        wanted[row["worker"], row["mechanism"]] = (score, int(row["n_tasks"]))
    scores, second, votes, given = engine.run(sql, tables(labels, z))
    got = {row[:2]: row[2:4] for row in scores}
    assert second == [], second
    assert wanted.keys() == got.keys(), wanted.keys() ^ got.keys()
    assert dict(votes) == majority(given)
    largest = 0.0
    for key, (score, tasks) in wanted.items():
        assert tasks == got[key][1], (key, tasks, got[key])
        assert (score is None) == (got[key][0] is None), (key, score, got[key])
        if score is not None:
            largest = max(largest, abs(score - got[key][0]))
    return largest, len(wanted)


def majority(given):
    """The label that most people give, counted here; without the tasks where labels tie."""
    votes = collections.defaultdict(collections.Counter)
    for task, label in given:
        votes[task][label] += 1
    ranked = {task: counts.most_common(2) for task, counts in votes.items()}
    return {
        task: first[0]
        for task, (first, *others) in ranked.items()
        if not others or others[0][1] < first[1]
    }


def main():
    engine, programs = ENGINES[sys.argv[1]](), sys.argv[2:4]
    folder = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    failed = False
    with tempfile.TemporaryDirectory() as made:
        for name, labels, z in [*label_sets(folder), *hard_sets(pathlib.Path(made))]:
            mechanisms = WITH_Z if z else WITHOUT_Z
            largest, scores = compare(engine, programs, labels, z, mechanisms)
            failed |= largest > TOLERANCE
            print(f"{name}: {scores} scores, largest difference {largest:.1e}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
