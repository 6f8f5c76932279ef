#!/usr/bin/env python3
"""Trains the heads of `--embedder aspects` and prints the tables of their card.

    models/train_aspects.py SENTENCES BASE OUTPUT [--caz PROGRAM] [--vectors FILE.npy] [--table FILE.md]

SENTENCES is the file `sentences.jsonl` of annotated review sentences (Peer-Review-Analyze, MIT):
paper, reviewer, text, section tags, aspect tags. BASE is what `caz embed --embedder` takes, `static`
or `bert:FOLDER`; the vectors come from the program itself, so that training and use see the same.
OUTPUT is a safetensors file. `--vectors` keeps the vectors, or reuses those that are there.

Papers, not sentences, are split by a hash of their name: six tenths train, two tenths choose
(thresholds), two tenths are held out, for the table only.
Needs numpy, scipy and scikit-learn. The same versions give the same file.
"""

import argparse
import hashlib
import json
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

HERE = Path(__file__).parent
FORMAT = "caz-aspects-1"
# Words and pairs of words with a weight of their own.
TERMS = 1000
# A term must stand in so many training sentences.
MIN_SENTENCES = 8
# Quantiles of closeness to a prototype at which a sentence begins to count, and counts in full.
RAMP = (0.97, 0.995)
# A sentence counts for a prototype only if they share a word that is no English stop
# word and not in this share of sentences; words are compared by their first letters, so that `reproduce` is `reproducible`.
COMMON = 0.06
STEM = 6
# Inverse strength of the penalty, and what a unit vector is multiplied by so that it counts beside
# the words; both chosen on the papers for choosing.
PENALTY = 0.1
VECTOR_SCALE = 4.0
# Told from other models of the same number of dimensions by its vector of this sentence.
PROBE = "The experiments are convincing, but the paper is hard to follow and not novel."
SIGNS = {"POS": 1, "NEG": -1, "NEU": 0}
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def terms(text):
    """The words of a text and the pairs of neighbours; `src/embed/aspects/words.rs` does the same."""
    words = WORD.findall(lower_ascii(text.replace("\u2019", "'")))
    return words + [f"{a} {b}" for a, b in zip(words, words[1:])]


def stems(text):
    return {term[:STEM] for term in terms(text) if " " not in term}


def lower_ascii(text):
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in text)


def read_sentences(path):
    rows = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), row["text"])
        for escape in (r"\n", r"\t", r"\r"):
            text = text.replace(escape, " ")
        text = " ".join(text.replace('\\"', '"').split()).strip('"').strip()
        rows.append((row["paper"], row["reviewer"], text or "-", marks(row)))
    return rows


def tags(names):
    """Tag to sign; tags without a readable sign are left out."""
    found = {}
    for name in names:
        match = re.fullmatch(r"([A-Z]{3})[-_](POS|NEG|NEU)", name.upper())
        if match:
            found[match[1]] = SIGNS[match[2]]
    return found


def marks(row):
    """Category to sign of one sentence: the map from the tags of the data to our categories."""
    section, aspect = tags(row["section"]), tags(row["aspect"])
    found = {}

    def put(category, *signs):
        found[category] = int(np.sign(sum(sign for sign in signs if sign is not None)))

    if "CLA" in aspect or "PNF" in aspect:
        put("Clarity and Presentation", aspect.get("CLA"), aspect.get("PNF"))
    if "RWK" in section:
        put("Related Work", section["RWK"])
    if "EMP" in aspect and ("MET" in section or "ANA" in section):
        put("Theory Soundness", aspect["EMP"])
    if ("EMP" in aspect or "SUB" in aspect) and "EXP" in section:
        put("Experiment Design", aspect.get("EMP"), aspect.get("SUB"))
    # A neutral sentence about the problem sums the paper up; that alone is no judgment.
    if "PDI" in section and (section["PDI"] != 0 or "IMP" in aspect):
        put("Significance of the Problem", section["PDI"], aspect.get("IMP"))
    if "NOV" in aspect:
        put("Novelty of Method", aspect["NOV"])
    if "CMP" in aspect:
        put("Comparison to Previous Studies", aspect["CMP"])
    if "IMP" in aspect and "PDI" not in section:
        put("Implications of the Research", aspect["IMP"])
    if "APR" in aspect:
        put("Relevance to Conference", aspect["APR"])
    if "EMP" in aspect and "RES" in section:
        put("Experiment Execution", aspect["EMP"])
    if "DAT" in section:
        put("Data Generation and Augmentation", section["DAT"])
    return found


CATEGORIES = [
    "Clarity and Presentation",
    "Related Work",
    "Theory Soundness",
    "Experiment Design",
    "Significance of the Problem",
    "Novelty of Method",
    "Comparison to Previous Studies",
    "Implications of the Research",
    "Relevance to Conference",
    "Experiment Execution",
    "Data Generation and Augmentation",
]


def part(paper):
    """0 to train on, 1 to choose by, 2 held out."""
    tenth = int(hashlib.sha256(paper.encode()).hexdigest()[:8], 16) % 10
    return 0 if tenth < 6 else 1 if tenth < 8 else 2


def embed(texts, base, caz):
    """Unit vectors of texts, one row each; zero where the base knows no token."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "texts.jsonl"), Path(folder, "vectors.npy")
        lines = (json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts))
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [caz, "embed", str(source), "--embedder", base, "--output", str(target), "--quiet"]
        subprocess.run(command, check=True)
        vectors = np.load(target)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


def sentence_vectors(rows, arguments):
    kept = arguments.vectors and Path(arguments.vectors)
    if kept and kept.exists():
        vectors = np.load(kept)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths == 0, 1, lengths)
    vectors = embed([row[2] for row in rows], arguments.base, arguments.caz)
    if kept:
        np.save(kept, vectors)
    return vectors


def fit(features, wanted):
    return LogisticRegression(C=PENALTY, max_iter=2000).fit(features, wanted)


def threshold(wanted, probability):
    """The cut with the best F1."""
    cuts = np.unique(np.quantile(probability, np.linspace(0.3, 0.99, 70)))
    return max(cuts, key=lambda cut: f1_score(wanted, probability >= cut))


def prototype(vectors, mean):
    """The unit direction of prototype sentences from the mean of all sentences."""
    direction = vectors.mean(axis=0) - mean
    return direction / np.linalg.norm(direction)


def rubric_texts(category):
    """What stands for a category of a rubric that has no sentences; `prototypes.rs` does the same."""
    name, definition = category["name"], category["definition"]
    return [name, definition, f"{name}: {definition}"]


def shared(closeness, of_prototypes, of_sentences):
    """Closeness where a sentence shares a word with the prototype, else less than any."""
    share = np.array([[not words.isdisjoint(of) for of in of_prototypes] for words in of_sentences])
    return np.where(share, closeness, -2.0)


def listed(names):
    return json.dumps(names, separators=(",", ":"))


def write_safetensors(path, metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name in sorted(tensors):
        values = np.ascontiguousarray(tensors[name], dtype="<f4")
        start = len(data)
        data += values.tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [start, len(data)]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences")
    parser.add_argument("base")
    parser.add_argument("output")
    parser.add_argument("--name", help="how the base is called in messages [BASE]")
    parser.add_argument("--caz", default="caz")
    parser.add_argument("--vectors")
    parser.add_argument("--table")
    arguments = parser.parse_args()

    rows = read_sentences(arguments.sentences)
    papers = np.array([part(row[0]) for row in rows])
    train, choose, held = papers == 0, papers == 1, papers == 2
    texts = np.array([row[2] for row in rows], dtype=object)
    about = np.array([[c in row[3] for c in CATEGORIES] for row in rows]).astype(int)
    signs = np.array([[row[3].get(c, 9) for c in CATEGORIES] for row in rows])
    speaks = about.any(axis=1)
    sign = np.array([np.sign(sum(row[3].values())) for row in rows])
    vectors = sentence_vectors(rows, arguments)
    dims = vectors.shape[1]

    # Words: those that differ most between sentences about a category and others.
    counter = CountVectorizer(analyzer=terms, min_df=MIN_SENTENCES, binary=True)
    counter.fit(texts[train])
    counts = counter.transform(texts).astype(float)
    names = counter.get_feature_names_out()
    scores = [chi2(counts[train], about[train, c])[0] for c in range(len(CATEGORIES))]
    scores.append(chi2(counts[train & speaks], sign[train & speaks])[0])
    best = np.max(scores, axis=0)
    kept = sorted(sorted(range(len(names)), key=lambda t: (-round(best[t], 9), names[t]))[:TERMS])
    words = counts[:, kept]
    features = sparse.hstack([words, sparse.csr_matrix(vectors * VECTOR_SCALE)]).tocsr()

    heads = [fit(features[train], about[train, c]) for c in range(len(CATEGORIES))]
    polarity = fit(features[train & speaks], sign[train & speaks])
    assert list(polarity.classes_) == [-1, 0, 1]

    # Prototypes: a sentence begins to count where it is closer than nearly all sentences are. For
    # rubrics of one's own, the quantiles over the definitions of all categories with data.
    mean = vectors[train].mean(axis=0)
    rubric = tomllib.loads((HERE / "../prompts/rubrics/aspects19.toml").read_text())
    definitions = {category["name"]: category for category in rubric["categories"]}
    described = [rubric_texts(definitions[c]) for c in CATEGORIES]
    described_stems = [set().union(*map(stems, of_category)) for of_category in described]
    lengths = len(described[0])
    described = embed([text for of_category in described for text in of_category], arguments.base, arguments.caz)
    directions = [
        prototype(described[c * lengths : (c + 1) * lengths], mean) for c in range(len(CATEGORIES))
    ]
    closeness = (vectors - mean) @ np.array(directions).T
    own = tomllib.loads((HERE / "aspects/prototypes.toml").read_text())["categories"]
    own_vectors = embed([s for category in own for s in category["sentences"]], arguments.base, arguments.caz)
    prototypes, at = [], 0
    for category in own:
        prototypes.append(prototype(own_vectors[at : at + len(category["sentences"])], mean))
        at += len(category["sentences"])
    of_sentences = [stems(text) for text in texts]
    frequency = {}
    for stem in (stem for i in np.flatnonzero(train) for stem in of_sentences[i]):
        frequency[stem] = frequency.get(stem, 0) + 1
    frequent = {stem for stem, count in frequency.items() if count >= COMMON * train.sum()}
    common = sorted(frequent.union(*map(stems, ENGLISH_STOP_WORDS)))
    own_stems = [sorted(stems(" ".join(category["words"]))) for category in own]
    near = (vectors - mean) @ np.array(prototypes).T
    ramps = [np.quantile(near[train, c], RAMP) for c in range(len(own))]
    ramps.append(np.quantile(closeness[train], RAMP))
    probe = embed([PROBE], arguments.base, arguments.caz)[0]

    weights = np.array([head.coef_[0] for head in heads])
    metadata = {
        "format": FORMAT,
        "base": arguments.name or arguments.base,
        "probe": PROBE,
        "trained": listed(CATEGORIES),
        "prototypes": listed([category["name"] for category in own]),
        "prototype_words": listed(own_stems),
        "common_words": listed(common),
        "terms": listed([str(names[t]) for t in kept]),
    }
    write_safetensors(
        arguments.output,
        metadata,
        {
            "about.words": weights[:, :TERMS],
            "about.vectors": weights[:, TERMS:] * VECTOR_SCALE,
            "about.bias": [head.intercept_[0] for head in heads],
            "polarity.words": polarity.coef_[:, :TERMS],
            "polarity.vectors": polarity.coef_[:, TERMS:] * VECTOR_SCALE,
            "polarity.bias": polarity.intercept_,
            "prototypes": np.array(prototypes),
            "mean": mean,
            "ramps": np.array(ramps),
            "probe": probe,
        },
    )

    described_stems = [words - set(common) for words in described_stems]
    data = (rows, texts, vectors, about, signs, sign, speaks, (train, choose, held))
    found = np.column_stack([head.predict_proba(features)[:, 1] for head in heads])
    report(arguments, data, found, polarity.predict_proba(features), shared(closeness, described_stems, of_sentences), ramps[-1])
    examples(own, shared(near, own_stems, of_sentences), ramps, texts, held)


def report(arguments, data, found, signs_found, by_definition, ramp):
    rows, texts, vectors, about, signs, sign, speaks, (train, choose, held) = data
    out = []
    papers = [len({row[0] for row, use in zip(rows, which) if use}) for which in (train, choose, held)]
    counts = [int(which.sum()) for which in (train, choose, held)]
    out.append(f"Papers {papers}, sentences {counts}: trained on, chosen by, held out.\n")
    out.append("| category | sentences | precision | recall | F1 | AUC | sign AUC |")
    out.append("|---|---|---|---|---|---|---|")
    polarity = signs_found[:, 2] - signs_found[:, 0]
    for c, name in enumerate(CATEGORIES):
        cut = threshold(about[choose, c], found[choose, c])
        yes, said = about[held, c], found[held, c] >= cut
        signed = held & (np.abs(signs[:, c]) == 1)
        cells = [precision_score(yes, said), recall_score(yes, said), f1_score(yes, said)]
        cells += [roc_auc_score(yes, found[held, c]), roc_auc_score(signs[signed, c] > 0, polarity[signed])]
        out.append(f"| {name} | {yes.sum()} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")

    def line(name, scores):
        f1, auc = [], []
        for c in range(len(CATEGORIES)):
            cut = threshold(about[choose, c], scores[choose, c])
            f1.append(f1_score(about[held, c], scores[held, c] >= cut))
            auc.append(roc_auc_score(about[held, c], scores[held, c]))
        return f"{name} | {np.mean(f1):.3f} | {np.mean(auc):.3f}"

    def signs_line(probabilities):
        use = held & speaks
        f1 = f1_score(sign[use], probabilities[use].argmax(axis=1) - 1, average="macro")
        use = use & (sign != 0)
        return f"{f1:.3f} | {roc_auc_score(sign[use] > 0, (probabilities[:, 2] - probabilities[:, 0])[use]):.3f}"

    def logistic(features, strength):
        model = lambda use, wanted: LogisticRegression(C=strength, max_iter=2000).fit(features[use], wanted[use])
        scores = [model(train, about[:, c]).predict_proba(features)[:, 1] for c in range(len(CATEGORIES))]
        return np.column_stack(scores), model(train & speaks, sign).predict_proba(features)

    out.append("\n| held-out papers | macro-F1 | AUC | sign macro-F1 | sign AUC |")
    out.append("|---|---|---|---|---|")
    out.append(f"| {line('these heads: words and vectors', found)} | {signs_line(signs_found)} |")
    scores, by_sign = logistic(vectors, 1.0)
    out.append(f"| {line('logistic regression on the vectors alone', scores)} | {signs_line(by_sign)} |")
    out.append(f"| {line('prototypes from the definitions', by_definition)} | - | - |")
    tfidf = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2)).fit(texts[train])
    scores, by_sign = logistic(tfidf.transform(texts), 1.0)
    out.append(f"| {line('TF-IDF and logistic regression', scores)} | {signs_line(by_sign)} |")
    always = np.mean([f1_score(about[held, c], np.ones(held.sum())) for c in range(len(CATEGORIES))])
    use = held & speaks
    most = int(np.bincount(sign[train & speaks] + 1).argmax()) - 1
    most_f1 = f1_score(sign[use], np.full(use.sum(), most), average="macro", zero_division=0)
    out.append(f"| always yes (the majority, no, has F1 0), the most frequent sign | {always:.3f} | .500 | {most_f1:.3f} | .500 |")

    counted = by_definition[held] > np.mean(ramp)
    out.append(f"\nOf the {counted.sum()} times that a prototype from a definition counts a sentence at least half, "
               f"the annotators agree in {100 * about[held][counted].mean():.0f} %; of all sentences and categories, "
               f"{100 * about[held].mean():.0f} % are marked.")
    out.append("\n| value of a review | rank correlation with the annotated sign of the review |")
    out.append("|---|---|")
    for name, value in FORMULAS.items():
        out.append(f"| {name} | {review_correlation(rows, held, found * polarity[:, None], about, signs, value):.3f} |")
    text = "\n".join(out) + "\n"
    if arguments.table:
        Path(arguments.table).write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def examples(own, near, ramps, texts, held):
    """For the eye only: the sentences that count most for every category without data."""
    for c, category in enumerate(own):
        order = [i for i in np.argsort(-near[:, c]) if held[i]][:4]
        for i in order:
            low, high = ramps[c]
            weight = np.clip((near[i, c] - low) / (high - low), 0, 1)
            print(f"{category['name']} {weight:.2f}: {texts[i][:110]}", file=sys.stderr)


FORMULAS = {
    "S / (1 + A), the one in use": lambda e: e.sum(axis=0) / (1 + np.abs(e).sum(axis=0)),
    "some praise minus some criticism": lambda e: (1 - np.maximum(-e, 0)).prod(axis=0)
    - (1 - np.maximum(e, 0)).prod(axis=0),
    "mean": lambda e: e.mean(axis=0),
}


def review_correlation(rows, held, evidence, about, signs, value):
    from scipy.stats import spearmanr

    reviews = {}
    for i in np.flatnonzero(held):
        reviews.setdefault(rows[i][:2], []).append(i)
    values = np.array([value(evidence[lines]) for lines in reviews.values()])
    wanted = [np.sign(np.where(about[lines] == 1, signs[lines], 0).sum(axis=0)) for lines in reviews.values()]
    wanted = np.array(wanted)
    return np.mean([spearmanr(values[:, c], wanted[:, c])[0] for c in range(about.shape[1])])


if __name__ == "__main__":
    main()
