"""`caz labels` against polars, DuckDB and scipy on the same files, each side in processes of its own, one after the other.

    pip install polars duckdb scipy pyarrow
    python benches/compare_labels.py target/release/caz [LABELS] [--only ROW]

Ten labels a task of 4 classes by 20,000 people, one LLM on half of the tasks; LABELS is 10,000,000 unless given, and a
tenth for the formats. Prints processor time (user and system), wall time, most memory and the ratio of processor times;
two threads on every side. Rows: `quoted` and `json` (reading, with the counts that `majority` needs), `neg_z`, `ds`
(8 iterations), `own` (nothing does the same: `neg_z` of polars beside it), `random` (rows in random order against the
same rows sorted by task, caz alone), `threads` (one against two, wall time, caz alone).
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

READ = "import polars as pl; frame = pl.{read}; print(frame.group_by('task', 'label').len().height)"
NEG_Z = """
import polars as pl
z = pl.scan_csv({z!r}, infer_schema=False).rename({{'label': 'z'}})
frame = pl.scan_csv({labels!r}, infer_schema=False).join(z, on='task')
frame = frame.group_by('worker').agg(-(pl.col('label') == pl.col('z')).mean())
frame.collect(engine='streaming').sort('worker').write_csv({out!r})
"""
NEG_Z_SQL = """
import duckdb
duckdb.sql("set threads = 2")
duckdb.sql("copy (select worker, -avg((a.label = z.label)::int) from read_csv({labels!r}, all_varchar = true) a join "
           "read_csv({z!r}, all_varchar = true) z using (task) group by worker order by worker) to {out!r}")
"""
DS = """
import numpy as np, polars as pl, scipy.sparse as sp
frame = pl.read_csv({labels!r}, infer_schema=False)
columns = [frame[c].cast(pl.Enum(frame[c].unique())) for c in ('task', 'worker', 'label')]
t, w, l = [c.to_physical().to_numpy().astype(np.int64) for c in columns]
T, W, L = [int(c.max()) + 1 for c in (t, w, l)]
said = sp.csr_matrix((np.ones(len(t)), (t, w * L + l)), shape=(T, W * L))
p = np.asarray(sp.csr_matrix((np.ones(len(t)), (t, l)), shape=(T, L)).todense()) + 0.0
p /= p.sum(axis=1, keepdims=True)
for _ in range(8):
    counts = (said.T @ p).reshape(W, L, L) + 0.01
    errors = np.log(counts / counts.sum(axis=1, keepdims=True)).reshape(W * L, L)
    p = said @ errors + np.log(p.mean(axis=0))
    p = np.exp(p - p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
print(p.argmax(axis=1)[:10])
"""


def write(folder, count, kind):
    """The labels sorted by task, and Z; `kind` is csv, quoted, json or random."""
    draw = random.Random(7)
    path = os.path.join(folder, {"json": "labels.jsonl"}.get(kind, f"{kind}.csv"))
    form = {"json": '{{"task": "q{}", "worker": "w{}", "label": "{}"}}\n', "quoted": '"q{}","w{}","{}"\n'}
    form = form.get(kind, "q{},w{},{}\n").format
    head = {"json": "", "quoted": '"task","worker","label"\n'}.get(kind, "task,worker,label\n")
    z = os.path.join(folder, "z.csv")
    with open(path, "w") as file, open(z, "w") as of_z:
        file.write(head)
        of_z.write("task,label\n")
        rows = []
        for task in range(count // 10):
            truth, worker = int(draw.random() * 4), int(draw.random() * 20_000)
            if draw.random() < 0.5:
                of_z.write(f"q{task},{truth}\n")
            for _ in range(10):
                label = truth if draw.random() < 0.65 else int(draw.random() * 4)
                rows.append(form(task, worker, label))
                worker = (worker + 1 + int(draw.random() * 1_999)) % 20_000
            if kind != "random" and len(rows) > 100_000:
                file.writelines(rows)
                rows.clear()
        if kind == "random":
            draw.shuffle(rows)
        file.writelines(rows)
    return path, z


def timed(command, threads=2):
    """Processor seconds, wall seconds and megabytes."""
    count = str(threads)
    names = ("RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | dict.fromkeys(names, count))
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[:2]} failed")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def show(row, sides):
    said = [f"{name} {cpu:.2f} s (wall {wall:.2f}, {peak:.0f} MB)" for name, (cpu, wall, peak) in sides]
    ratios = [f"{sides[0][1][0] / other[0]:.2f}" for _, other in sides[1:]]
    print(f"{row}: {', '.join(said)}; ratio {', '.join(ratios)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("caz")
    parser.add_argument("labels", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    wanted = lambda row: arguments.only in (None, row)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")

        def caz(path, *more, threads=2):
            return timed([arguments.caz, "labels", path, *more, "--quiet", "-o", out], threads)

        def python(script, **names):
            return timed([sys.executable, "-c", script.format(out=out, **names)])

        for kind, read in (("quoted", "read_csv({path!r}, infer_schema=False)"), ("json", "read_ndjson({path!r})")):
            if wanted(kind):
                path, _ = write(folder, arguments.labels // 10, kind)
                read = READ.replace("{read}", read)
                show(kind, [("caz", caz(path, "--mechanism", "majority")), ("polars", python(read, path=path))])
        path, z = write(folder, arguments.labels, "csv")
        if wanted("neg_z"):
            show("neg_z", [("caz", caz(path, "--z", z, "--mechanism", "neg_z")),
                           ("polars", python(NEG_Z, labels=path, z=z)), ("duckdb", python(NEG_Z_SQL, labels=path, z=z))])
        if wanted("ds"):
            show("ds", [("caz", caz(path, "--mechanism", "ds", "--max-iterations", "8")), ("polars and scipy", python(DS, labels=path))])
        if wanted("own"):
            show("own", [("caz", caz(path, "--z", z)), ("polars, neg_z", python(NEG_Z, labels=path, z=z))])
        if wanted("threads"):
            one = caz(path, "--z", z, "--mechanism", "neg_z", threads=1)
            two = caz(path, "--z", z, "--mechanism", "neg_z")
            print(f"threads: wall {one[1]:.2f} s by one, {two[1]:.2f} s by two: {one[1] / two[1]:.2f} times")
        if wanted("random"):
            shuffled, _ = write(folder, arguments.labels, "random")
            sides = [("random order", caz(shuffled, "--z", z, "--mechanism", "neg_z")), ("sorted", caz(path, "--z", z, "--mechanism", "neg_z"))]
            show("random", sides)


if __name__ == "__main__":
    main()
