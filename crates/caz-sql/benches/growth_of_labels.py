#!/usr/bin/env python3
"""Time, memory and disk of counting more and more labels by several engines, and whether they agree.

    pip install duckdb pyarrow numpy
    cargo build --release --features parquet && cargo build --release -p caz-sql
    python crates/caz-sql/benches/growth_of_labels.py 10 50 [--engines local,datafusion,duckdb] [--memory-limit 4GB] [--folder DIR]

The numbers are millions of labels. A crowd has ten labels of four on each task, by 50,000 workers, and one
LLM on every task; names are texts; a fifth of the workers hand in what the LLM says. It is made once per
size, the same for the same seed, in Parquet. Each engine is a process of its own, `local` is
caz, `datafusion` caz-sql, and `duckdb` runs what `caz-sql print` prints. Peaks are of 10^9 bytes and of that
process; disk is the most that its temporary folder ever held. Scores are compared with those of the first
engine; all must be there.
"""

import argparse
import csv
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

WORKERS = 50_000
PER_TASK = 10
CHUNK = 100_000
LABELS = pa.array(["a", "b", "c", "d"])
PEOPLE = pa.array([f"worker-{number:05}" for number in range(WORKERS)])


def make(folder, millions, seed):
    """Writes `labels.parquet` and `z.parquet`."""
    tasks = millions * 1_000_000 // PER_TASK
    rng = np.random.default_rng(seed)
    copies = rng.random(WORKERS) < 0.2
    skill = rng.uniform(0.4, 0.9, WORKERS)
    people = pa.schema([("task", pa.string()), ("worker", pa.string()), ("label", pa.string())])
    llm = pa.schema([("task", pa.string()), ("label", pa.string())])
    with pq.ParquetWriter(folder / "labels.parquet", people) as labels, pq.ParquetWriter(folder / "z.parquet", llm) as z:
        for first in range(0, tasks, CHUNK):
            count = min(CHUNK, tasks - first)
            truth = rng.integers(0, 4, count)
            said = np.where(rng.random(count) < 0.7, truth, rng.integers(0, 4, count))
            # Ten workers of a task: steps of less than a tenth of the circle never meet.
            start, step = rng.integers(0, WORKERS, count), rng.integers(1, WORKERS // PER_TASK, count)
            workers = (start[:, None] + step[:, None] * np.arange(PER_TASK)) % WORKERS
            right = rng.random(workers.shape) < skill[workers]
            own = np.where(right, truth[:, None], rng.integers(0, 4, workers.shape))
            given = np.where(copies[workers], said[:, None], own)
            names = pc.binary_join_element_wise("task-", pc.cast(pa.array(np.arange(first, first + count)), pa.string()), "")
            z.write_table(pa.table([names, LABELS.take(pa.array(said))], schema=llm))
            rows = pa.array(np.repeat(np.arange(count), PER_TASK))
            labels.write_table(pa.table(
                [names.take(rows), PEOPLE.take(pa.array(workers.ravel())), LABELS.take(pa.array(given.ravel()))], schema=people))


def bytes_under(folder):
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def measured(command, temporary):
    """Runs it; returns wall seconds, processor seconds, peak memory and the most bytes of `temporary`."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    most, done = [0], threading.Event()

    def watch():
        while not done.wait(0.5):
            most[0] = max(most[0], bytes_under(temporary))

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    done.set()
    watcher.join()
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, most[0]


RUN_DUCKDB = """
import sys, duckdb
sql, output, folder, limit = sys.argv[1:]
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
# Relations have no order; with one, 200 million labels end in an error under a limit of 4 GB.
connection.execute("SET preserve_insertion_order = false")
connection.execute(f"SET temp_directory = '{folder}'")
if limit:
    connection.execute(f"SET memory_limit = '{limit}'")
connection.execute("SET threads = %d" % (__import__("os").cpu_count()))
statements = duckdb.extract_statements(open(sql).read())
for statement in statements[:-1]:
    connection.execute(statement)
connection.execute("CREATE TABLE answer AS " + statements[-1].query.strip().rstrip(";"))
connection.execute(f"COPY answer TO '{output}' (HEADER)")
"""


def command(engine, arguments, folder, output, temporary):
    asked = [str(folder / "labels.parquet"), "--z", str(folder / "z.parquet"), "--mechanism", arguments.mechanism]
    if engine == "local":
        return [arguments.caz, "labels", *asked, "--exact-labels", "--learn-from", "all", "--quiet", "--output", str(output)]
    if engine == "datafusion":
        limit = ["--memory-limit", arguments.memory_limit] if arguments.memory_limit else []
        return [arguments.caz_sql, "score", *asked, "--exact-labels", "--quiet", "--output", str(output), *limit]
    sql = folder / "plan.sql"
    sql.write_text(subprocess.run([arguments.caz_sql, "print", *asked], check=True, capture_output=True, text=True).stdout)
    return [sys.executable, "-c", RUN_DUCKDB, str(sql), str(output), str(temporary), arguments.memory_limit]


def scores(path):
    with open(path, newline="") as file:
        return {(row["worker"], row["mechanism"]): row["score"] for row in csv.DictReader(file)}


def difference(one, other):
    assert one.keys() == other.keys(), (len(one), len(other))
    largest = 0.0
    for key, score in one.items():
        assert (score == "") == (other[key] == ""), (key, score, other[key])
        if score:
            largest = max(largest, math.fabs(float(score) - float(other[key])))
    return largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("millions", type=int, nargs="+")
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--caz-sql", default="target/release/caz-sql")
    parser.add_argument("--engines", default="local,datafusion,duckdb")
    parser.add_argument("--mechanism", default="ca_z")
    parser.add_argument("--memory-limit", default="")
    parser.add_argument("--folder", type=Path, help="where crowds are kept between runs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    assert set(engines) <= {"local", "datafusion", "duckdb"}, engines

    before = {}
    with tempfile.TemporaryDirectory() as scratch:
        for millions in arguments.millions:
            folder = (arguments.folder or Path(scratch)) / f"{millions}-{arguments.seed}"
            if not (folder / "made").exists():
                folder.mkdir(parents=True, exist_ok=True)
                make(folder, millions, arguments.seed)
                (folder / "made").touch()
            size = (folder / "labels.parquet").stat().st_size
            print(f"{millions} million labels, {size / 1e6 / millions:.1f} bytes each", flush=True)
            first = None
            for engine in engines:
                # Of the folder that keeps the crowds: it has the room.
                temporary, output = folder / "temporary", folder / f"{engine}.csv"
                shutil.rmtree(temporary, ignore_errors=True)
                temporary.mkdir()
                output.unlink(missing_ok=True)
                wall, seconds, peak, disk = measured(command(engine, arguments, folder, output, temporary), temporary)
                shutil.rmtree(temporary)
                found = scores(output)
                first = first or found
                growth = ""
                if engine in before:
                    smaller, took = before[engine]
                    growth = f", exponent {math.log(seconds / took) / math.log(millions / smaller):.2f}"
                before[engine] = (millions, seconds)
                print(f"  {engine:10} {wall:7.1f} s wall {seconds:7.1f} s processor {peak / 1e9:6.2f} GB {disk / 1e9:6.2f} GB disk"
                      f"  {len(found)} scores, largest difference {difference(first, found):.1e}{growth}", flush=True)


main()
