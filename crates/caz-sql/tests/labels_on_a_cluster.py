#!/usr/bin/env python3
"""Scores of labels on a real cluster of Ballista: the same as local, right or refused when parts die.

    labels_on_a_cluster.py CAZ CAZ_SQL SCHEDULER EXECUTOR DATA [LABELS Z]

CAZ_SQL is built with the feature `ballista`; SCHEDULER and EXECUTOR are the programs of ballista-scheduler
and ballista-executor 55.0. DATA is the folder of label sets. LABELS and Z, if given, are a crowd that takes
the cluster some seconds; an executor, then the scheduler is killed while it is counted, an executor once more
while it writes what the fits keep. With CAZ_TEST_S3=s3://BUCKET (and AWS_ENDPOINT and the like, for all
programs; pip install boto3) the project's own labels are counted from there, too. Not part of .ci/run:
building the programs takes a quarter of an hour.
"""

import csv
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CAZ, CAZ_SQL, SCHEDULER, EXECUTOR, DATA = sys.argv[1:6]
PORT = 50950
ADDRESS = f"127.0.0.1:{PORT}"
CLUSTER = ["--scheduler", ADDRESS]


class Cluster:
    """A scheduler and two executors, each a process of its own."""

    def __init__(self, folder):
        self.log = open(folder / "cluster.log", "w")
        self.scheduler = self.start(SCHEDULER, "--bind-host", "127.0.0.1", "--bind-port", str(PORT))
        time.sleep(2)
        self.executors = [self.executor(folder, number) for number in (1, 2)]
        time.sleep(4)

    def executor(self, folder, number):
        work = folder / f"work-{number}"
        work.mkdir(exist_ok=True)
        return self.start(
            EXECUTOR, "--scheduler-host", "127.0.0.1", "--scheduler-port", str(PORT), "--bind-host", "127.0.0.1",
            "--external-host", "127.0.0.1", "--bind-port", str(PORT + number), "--bind-grpc-port",
            str(PORT + 10 + number), "--bind-health-port", str(PORT + 20 + number), "--work-dir", str(work),
            "--vcores", "2", "--executor-heartbeat-interval-seconds", "5",
        )

    def start(self, *command):
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def stop(self):
        for process in [*self.executors, self.scheduler]:
            process.kill()
            process.wait()


def scores(path):
    with open(path, newline="") as file:
        return {(row["worker"], row["mechanism"]): (row["score"], row["n_tasks"]) for row in csv.DictReader(file)}


def difference(one, other):
    """The largest difference between scores; everything else must be equal."""
    assert one.keys() == other.keys(), (len(one), len(other))
    largest = 0.0
    for key, (score, tasks) in one.items():
        theirs, their_tasks = other[key]
        assert (score == "", tasks) == (theirs == "", their_tasks), (key, score, theirs)
        if score:
            largest = max(largest, math.fabs(float(score) - float(theirs)))
    return largest


def command(labels, z, mechanisms, output, *more):
    z = [part for path in z for part in ("--z", str(path))]
    # Engines learn from all labels, and stop where the local fit does.
    program = [CAZ_SQL, "score"] if more[:1] == ("--scheduler",) else [CAZ, "labels", "--learn-from", "all"]
    return [*program, str(labels), *z, "--mechanism", mechanisms, "--exact-labels", "--quiet", "--output",
            str(output), *more]


def sets():
    for labels in sorted(Path(DATA).glob("labels-*/labels.csv")):
        z = [path for path in [labels.parent / "z.csv"] if path.exists()]
        yield labels, z, "ca_z,ca,oa,oa_z,ds,neg_z" if z else "ca,oa,ds"


# A few iterations: each is a dozen queries, which a cluster takes its time for.
ITERATIONS = ["--max-iterations", "3"]


def alike(folder):
    seen = 0
    for labels, z, mechanisms in sets():
        shared = ["--shared-folder", str(folder)]
        for output, more in [("here.csv", []), ("there.csv", [*CLUSTER, *shared])]:
            subprocess.run(command(labels, z, mechanisms, folder / output, *more, *ITERATIONS), check=True)
        assert not list(folder.glob("caz-*")), "what was kept is still there"
        found = difference(scores(folder / "here.csv"), scores(folder / "there.csv"))
        print(f"{labels.parent.name}: {mechanisms}, largest difference {found:.1e}", flush=True)
        assert found <= 1e-9
        seen += 1
    assert seen >= 6, f"{seen} label sets under {DATA}"


def stored(folder, bucket):
    """Labels in object storage, which the executors read."""
    import boto3

    name = bucket.removeprefix("s3://")
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT"], region_name=os.environ["AWS_REGION"])
    here = Path(__file__).parents[3] / "data"
    for file in ["labels.csv", "llm-labels.csv"]:
        client.upload_file(str(here / file), name, file)
    mechanisms = "ca_z,ca,oa,oa_z,neg_z"
    subprocess.run(command(here / "labels.csv", [here / "llm-labels.csv"], mechanisms, folder / "here.csv"), check=True)
    far = command(f"{bucket}/labels.csv", [f"{bucket}/llm-labels.csv"], mechanisms, folder / "there.csv", *CLUSTER)
    subprocess.run(far, check=True)
    found = difference(scores(folder / "here.csv"), scores(folder / "there.csv"))
    print(f"{bucket}: {mechanisms}, largest difference {found:.1e}", flush=True)
    assert found <= 1e-9


def killed(folder, labels, z, victim, what, mechanisms="ca_z,ca", more=()):
    """Kills a process of the cluster while it counts: the right numbers or an error, never others."""
    here, there = folder / f"large-{mechanisms}.csv", folder / f"{what}-{mechanisms}.csv"
    if not here.exists():
        subprocess.run(command(labels, [z], mechanisms, here, *ITERATIONS), check=True)
    there_too = command(labels, [z], mechanisms, there, *CLUSTER, *more, *ITERATIONS)
    run = subprocess.Popen(there_too, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    early = run.poll()
    assert early is None, f"it was over before anything was killed: exit code {early}"
    victim.send_signal(signal.SIGKILL)
    started = time.time()
    said = run.communicate(timeout=900)[1].strip()
    took = time.time() - started
    if run.returncode == 0:
        found = difference(scores(here), scores(there))
        print(f"{what} killed, {mechanisms}: right after {took:.0f} s, largest difference {found:.1e}", flush=True)
        assert found <= 1e-9
    else:
        print(f"{what} killed, {mechanisms}: exit code {run.returncode} after {took:.0f} s: {said[:300]}", flush=True)
        assert run.returncode == 5 and ADDRESS in said and not there.exists(), said
    victim.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        cluster = Cluster(folder)
        try:
            alike(folder)
            if "CAZ_TEST_S3" in os.environ:
                stored(folder, os.environ["CAZ_TEST_S3"])
            if len(sys.argv) > 7:
                labels, z = sys.argv[6:8]
                killed(folder, labels, z, cluster.executors[1], "executor")
                cluster.executors[1] = cluster.executor(folder, 2)
                time.sleep(4)
                killed(folder, labels, z, cluster.executors[0], "executor", "ds", ["--shared-folder", str(folder)])
                cluster.executors[0] = cluster.executor(folder, 1)
                time.sleep(4)
                killed(folder, labels, z, cluster.scheduler, "scheduler")
        finally:
            cluster.stop()
        labels, z, mechanisms = next(sets())
        gone = subprocess.run(command(labels, z, mechanisms, folder / "gone.csv", *CLUSTER), stderr=subprocess.PIPE, text=True)
        print(f"no scheduler: exit code {gone.returncode}: {gone.stderr.strip()[:200]}")
        assert gone.returncode == 5 and ADDRESS in gone.stderr


main()
