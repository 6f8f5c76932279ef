#!/usr/bin/env python3
"""Compare the consensus of caz with Crowd-Kit on the same file.

    pip install crowd-kit
    cargo build --release
    python benches/compare_crowdkit.py labels.csv [--caz target/release/caz]

Prints, for the majority, one coin and Dawid-Skene, on how many of the tasks of which caz says a label
(where votes tie it says none) Crowd-Kit says the same, and the time of both (caz: the whole run, start and
reading included; Crowd-Kit: `fit` alone, on a data frame that is already in memory).
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time

import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote, OneCoinDawidSkene

KIT = {
    "majority": lambda tolerance: MajorityVote(),
    "one_coin": lambda tolerance: OneCoinDawidSkene(200, tol=tolerance),
    "ds": lambda tolerance: DawidSkene(200, tol=tolerance),
}


def run_caz(arguments, by, folder):
    consensus = os.path.join(folder, "consensus.csv")
    command = [arguments.caz, "labels", arguments.labels, "--mechanism", "majority", "--exact-labels", "--quiet",
               "--consensus", consensus, "--consensus-by", by, "--output", os.path.join(folder, "scores.csv")]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    with open(consensus, newline="") as file:
        return seconds, {row["task"]: row["label"] for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", help="CSV with task, worker, label")
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--tolerance", type=float, default=1e-7,
                        help="of Crowd-Kit, on the mean log-likelihood of a task: -1 never stops early")
    arguments = parser.parse_args()
    frame = pd.read_csv(arguments.labels, dtype=str, keep_default_na=False)[["task", "worker", "label"]]
    for by, model in KIT.items():
        with tempfile.TemporaryDirectory() as folder:
            seconds, ours = run_caz(arguments, by, folder)
        start = time.perf_counter()
        theirs = model(arguments.tolerance).fit(frame).labels_
        kit_seconds = time.perf_counter() - start
        said = {task: label for task, label in ours.items() if label}
        same = sum(theirs[task] == label for task, label in said.items())
        print(f"{by:9} same {same / len(said):.4f} of {len(said)} tasks of {len(ours)}; "
              f"caz {seconds:.2f} s, crowd-kit {kit_seconds:.2f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
