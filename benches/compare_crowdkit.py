#!/usr/bin/env python3
"""Compare Dawid-Skene of caz with Crowd-Kit on the same file, in one run.

    pip install crowd-kit
    cargo build --release
    python benches/compare_crowdkit.py labels.csv [--caz target/release/caz] [--iterations 100]

Prints the time of both (caz: the whole run, start and reading included; Crowd-Kit: `fit` alone,
on a data frame that is already in memory), the ratio, and the largest differences of task
probabilities and of worker scores. Both run the same number of iterations from the same start,
the vote shares, with the stopping rules off. What is left is a convention: where no task of a
worker can have some true class, the row of the confusion matrix is 0/0; caz takes it as uniform,
Crowd-Kit as certain to give the label that the worker always gives. It moves single tasks in the
first iterations and fades with more of them.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time

import pandas as pd
from crowdkit.aggregation import DawidSkene


def run_caz(arguments, folder):
    posteriors = os.path.join(folder, "posteriors.csv")
    scores = os.path.join(folder, "scores.csv")
    command = [arguments.caz, "labels", arguments.labels, "--mechanism", "ds", "--quiet",
               "--tolerance", "0", "--max-iterations", str(arguments.iterations),
               "--posteriors", posteriors, "--output", scores]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    probabilities = {}
    with open(posteriors, newline="") as file:
        for row in csv.DictReader(file):
            probabilities[row["task"], row["label"]] = float(row["probability"])
    with open(scores, newline="") as file:
        by_worker = {row["worker"]: float(row["score"]) for row in csv.DictReader(file)}
    return seconds, probabilities, by_worker


def run_crowdkit(frame, iterations):
    model = DawidSkene(n_iter=iterations, tol=-float("inf"))
    start = time.perf_counter()
    model.fit(frame)
    return time.perf_counter() - start, model


def scores_of(model, frame):
    """Sum over labels of the diagonal of the confusion matrix times the label's share."""
    shares = frame["label"].value_counts(normalize=True)
    # `errors_` has rows (worker, reported label) and columns true label.
    scores = {}
    for (worker, reported), row in model.errors_.iterrows():
        scores[worker] = scores.get(worker, 0.0) + row.get(reported, 0.0) * shares[reported]
    return scores


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", help="CSV with task, worker, label")
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--iterations", type=int, default=100)
    arguments = parser.parse_args()

    frame = pd.read_csv(arguments.labels, dtype=str)[["task", "worker", "label"]]
    with tempfile.TemporaryDirectory() as folder:
        caz_seconds, probabilities, caz_scores = run_caz(arguments, folder)
    kit_seconds, model = run_crowdkit(frame, arguments.iterations)

    work = len(frame) * frame["label"].nunique() * arguments.iterations
    for name, seconds in (("caz", caz_seconds), ("crowd-kit", kit_seconds)):
        print(f"{name:10} {seconds:8.3f} s   {seconds / work * 1e9:7.2f} ns per label x class x iteration")
    print(f"ratio      {kit_seconds / caz_seconds:8.1f}")
    kit = model.probas_.stack()
    difference = max(abs(value - probabilities[key]) for key, value in kit.items())
    print(f"largest difference of a task probability: {difference:.2e}")
    kit_scores = scores_of(model, frame)
    difference = max(abs(value - caz_scores[worker]) for worker, value in kit_scores.items())
    print(f"largest difference of a worker score:     {difference:.2e}")


if __name__ == "__main__":
    sys.exit(main())
