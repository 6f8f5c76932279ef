#!/usr/bin/env python3
"""Compare the agreement metrics of caz with other implementations, in one run.

    pip install scikit-learn scipy krippendorff irrCAC rbo pandas
    pip install trectools    # if it installs
    cargo build --release
    python benches/compare_agreement.py [--caz target/release/caz]
        [--labels LABELS --gold GOLD --scale 0..3] [--runs RUNS]

Without files it makes its own: 3 labellers of 500 tasks on grades 0 to 3, and 40 runs with two
scores each. Prints the largest difference per metric, and the package that it is to.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import warnings

import krippendorff
import numpy as np
import pandas as pd
import rbo
import scipy
import sklearn
from irrCAC.raw import CAC
from scipy.stats import kendalltau
from sklearn import metrics

try:
    from trectools import misc as trectools
except ImportError:
    trectools = None

warnings.filterwarnings("ignore")


def made_up(folder):
    draw = random.Random(17)
    labels, gold, runs = (os.path.join(folder, name) for name in ("labels.csv", "gold.csv", "runs.csv"))
    truth = [draw.choice([0, 0, 0, 1, 1, 2, 3]) for _ in range(500)]
    with open(gold, "w") as file:
        file.write("task,label\n")
        file.writelines(f"q{task},{grade}\n" for task, grade in enumerate(truth))
    with open(labels, "w") as file:
        file.write("task,source,label\n")
        for source, right in (("a", 0.8), ("b", 0.5), ("c", 0.3)):
            for task, grade in enumerate(truth):
                label = grade if draw.random() < right else draw.randrange(4)
                file.write(f"q{task},{source},{label}\n")
    with open(runs, "w") as file:
        file.write("group,run,people,llm\n")
        for group in ("x", "y"):
            for run in range(40):
                score = draw.random()
                # Three decimals in the first group, so that no two tie; one in the second.
                digits = 12 if group == "x" else 1
                other = score + draw.gauss(0, 0.2)
                file.write(f"{group},r{run},{score:.{digits}f},{other:.{digits}f}\n")
    return labels, gold, "0..3", runs


def caz(program, arguments):
    command = [program, "agree", *arguments, "--bootstrap", "2", "--quiet", "--format", "csv"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def peers(gold, labels, scale):
    """Metrics of one labeller on the items that it labels."""
    both = gold.to_frame("gold").join(labels.to_frame("label")).dropna()
    x, y = both["gold"], both["label"]
    yield "accuracy", "scikit-learn", metrics.accuracy_score(x, y)
    for name, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        yield name, "scikit-learn", metrics.cohen_kappa_score(x, y, labels=scale, weights=weights)
    yield "mae", "scikit-learn", metrics.mean_absolute_error(x, y)
    for grade in scale:
        yield f"precision:{grade}", "scikit-learn", metrics.precision_score(
            x, y, labels=[grade], average="micro", zero_division=np.nan)
        yield f"recall:{grade}", "scikit-learn", metrics.recall_score(
            x, y, labels=[grade], average="micro", zero_division=np.nan)
    a, b = x.to_numpy(float), y.to_numpy(float)
    higher = a[:, None] > a[None, :]
    won = (b[:, None] > b[None, :]) + 0.5 * (b[:, None] == b[None, :])
    yield "auc", "numpy, all pairs", won[higher].sum() / higher.sum()
    ratings = np.array([a, b])
    for level in ("nominal", "ordinal", "interval"):
        yield f"alpha_{level}", "krippendorff", krippendorff.alpha(
            ratings, value_domain=scale, level_of_measurement=level)
    table = CAC(both.astype(int), categories=scale, digits=15)
    yield "ac1", "irrCAC", table.gwet()["est"]["coefficient_value"]
    yield "fleiss", "irrCAC", table.fleiss()["est"]["coefficient_value"]


def ranked(scores):
    """Names from the highest score down."""
    return list(scores.sort_values(ascending=False, kind="stable").index)


def listed(scores):
    """Scores and names from the highest score down, as trectools takes them."""
    return [(scores[name], name) for name in ranked(scores)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--labels")
    parser.add_argument("--gold")
    parser.add_argument("--scale", default="0..3")
    parser.add_argument("--runs")
    arguments = parser.parse_args()
    print(f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        labels_file, gold_file, scale_text, runs_file = made_up(folder)
        if arguments.labels:
            labels_file, gold_file, scale_text = arguments.labels, arguments.gold, arguments.scale
        runs_file = arguments.runs or runs_file
        rows = caz(arguments.caz, [labels_file, "--gold", gold_file, "--scale", scale_text])
        rankings = caz(arguments.caz, ["--runs", runs_file, "--persistence", "0.9"])
        frame = pd.read_csv(labels_file)
        gold = pd.read_csv(gold_file).set_index("task")["label"]
        runs = pd.read_csv(runs_file)
    low, high = (int(end) for end in scale_text.split(".."))
    scale = list(range(low, high + 1))
    source = "source" if "source" in frame else "model"
    frame = frame[frame["label"].between(low, high)]
    ours = {(row["source"], row["metric"]): row["value"] for row in rows}

    worst = {}

    def note(metric, package, got, want):
        got = float(got) if got else float("nan")
        both_missing = np.isnan(got) and (want is None or np.isnan(want))
        difference = 0.0 if both_missing else abs(got - want)
        old = worst.get((metric, package), (0.0, 0))
        worst[metric, package] = (max(old[0], difference), old[1] + 1)

    for name, of_source in frame.groupby(source):
        for metric, package, value in peers(gold, of_source.set_index("task")["label"], scale):
            note(metric.split(":")[0], package, ours[name, metric], value)
    everybody = frame.pivot(index=source, columns="task", values="label").to_numpy(float)
    for level in ("nominal", "ordinal", "interval"):
        value = krippendorff.alpha(everybody, value_domain=scale, level_of_measurement=level)
        note(f"alpha_{level} of all", "krippendorff", ours["sources", f"alpha_{level}"], value)

    ours = {(row["group"], row["metric"]): row["value"] for row in rankings}
    group_column, _, first, second = runs.columns
    for group, scores in runs.groupby(group_column):
        scores = scores.set_index(runs.columns[1])
        x, y = scores[first], scores[second]
        note("tau_b", "scipy", ours[str(group), "tau_b"], kendalltau(x, y).statistic)
        if x.is_unique and y.is_unique:
            value = rbo.RankingSimilarity(ranked(x), ranked(y)).rbo_ext(p=0.9)
            for version in ("rbo_a", "rbo_b", "rbo_w"):
                note(f"{version} without ties", "rbo", ours[str(group), version], value)
            if trectools:
                value, _ = trectools.get_correlation(listed(x), listed(y), correlation="tauap")
                note("tau_ap without ties", "trectools", ours[str(group), "tau_ap"], value)

    if not trectools:
        print("trectools is not installed: tau_ap is not compared")
    print(f"{'metric':22} {'package':18} {'compared':>8}  largest difference")
    for (metric, package), (difference, count) in worst.items():
        print(f"{metric:22} {package:18} {count:8}  {difference:.1e}")


if __name__ == "__main__":
    sys.exit(main())
