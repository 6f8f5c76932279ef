"""`caz reviews` against a script of scikit-learn that takes the same products, at four sizes.

    python benches/compare_reviews.py target/release/caz [PARTS...]

The venue is that of `benches/own.rs`: 19,500 papers, 76,000 reviews of 300 words, two Z of 600 words a paper, or
an eighth, a quarter, a half of it (`PARTS`, 8 4 2 1). Both sides read the same two files on two threads at most and
write a table; what is printed is processor time (user and system), wall time, most memory, and the ratio. Needs
scikit-learn.

The script is what a user would write first: tf-idf of every text and of every Z cut to the words of each review,
minus the mean, the cosines with peers and Z of the paper, less those with all others. It fits no model, looks for
nothing word for word, tells no language, and does not say who is suspect.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAPERS, REVIEWS, PAPER_WORDS, PAPERS_EACH = 19_500, 76_000, 30, 3
VENUE = Path(__file__).resolve().parent.parent / "data" / "venue"


def sentences(name):
    with open(VENUE / name, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return [s.split() for text in texts for s in text.replace(". ", ". \n").split("\n") if s.split()]


def write_venue(part, folder):
    """Every sixth word is one of thirty of the paper; one person in a hundred hands in Z."""
    draw = random.Random(7)
    people, llm = sentences("reviews.jsonl"), sentences("llm-reviews.jsonl")

    def text(paper, pool, words):
        written = []
        while len(written) < words:
            for word in pool[int(draw.random() * len(pool))]:
                if draw.random() < 1 / 6:
                    end = "." if word.endswith(".") else ""
                    word = f"term{paper}x{int(draw.random() * PAPER_WORDS)}{end}"
                written.append(word)
        return " ".join(written)

    papers, reviews = PAPERS // part, REVIEWS // part
    first = []
    with open(folder / "z.jsonl", "w", encoding="utf-8") as file:
        for source in ("first", "second"):
            for paper in range(papers):
                row = {"paper": f"p{paper}", "source": source, "text": text(paper, llm, 600)}
                if source == "first":
                    first.append(row["text"])
                file.write(json.dumps(row) + "\n")
    persons = -(-reviews // PAPERS_EACH)
    with open(folder / "reviews.jsonl", "w", encoding="utf-8") as file:
        for number in range(reviews):
            paper, reviewer = number % papers, number % persons
            said = first[paper] if reviewer % 100 == 0 else text(paper, people, 300)
            file.write(json.dumps({"paper": f"p{paper}", "reviewer": f"r{reviewer}", "text": said}) + "\n")
    return reviews


def peer(folder):
    """The script of a user."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    def rows(name):
        with open(folder / name, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    reviews, z = rows("reviews.jsonl"), rows("z.jsonl")
    z_of, reviews_of = {}, {}
    for index, row in enumerate(z):
        z_of.setdefault(row["paper"], []).append(index)
    for index, row in enumerate(reviews):
        reviews_of.setdefault(row["paper"], []).append(index)
    copies, of_copy = [], []
    for index, row in enumerate(reviews):
        words = len(row["text"].split())
        for other in z_of[row["paper"]]:
            copies.append(" ".join(z[other]["text"].split()[:words]))
            of_copy.append((index, other))
    tfidf = TfidfVectorizer(sublinear_tf=True)
    whole = tfidf.fit_transform([row["text"] for row in reviews + z])
    cut = tfidf.transform(copies)
    n = len(reviews)
    mean = np.asarray(whole[:n].mean(axis=0)).ravel()

    class Centered:
        def __init__(self, rows):
            self.rows, self.along = rows, rows @ mean
            squared = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            self.inverse = 1 / np.sqrt(np.maximum(squared - 2 * self.along + mean @ mean, 1e-12))

        def cosines(self, mine, other, theirs):
            products = np.asarray(self.rows[mine].multiply(other.rows[theirs]).sum(axis=1)).ravel()
            centered = products - self.along[mine] - other.along[theirs] + mean @ mean
            return centered * self.inverse[mine] * other.inverse[theirs]

        def sum(self):
            return self.inverse @ self.rows - self.inverse.sum() * mean

        def with_sum(self, total):
            return (self.rows @ total - mean @ total) * self.inverse

    people, llm, cuts = Centered(whole[:n]), Centered(whole[n:]), Centered(cut)
    of_people, of_llm = people.sum(), [Centered(whole[n:][s]).sum() for s in (slice(0, len(z) // 2), slice(len(z) // 2, None))]

    def stand(texts, papers):
        """Peers and z of every text in the place of a paper."""
        pairs = [(i, other) for i, paper in enumerate(papers) for other in reviews_of[paper]]
        mine, theirs = np.array(pairs).T
        near = np.bincount(mine, texts.cosines(mine, people, theirs), len(papers))
        count = np.bincount(mine, minlength=len(papers))
        peers = near / count - (texts.with_sum(of_people) - near) / (n - count)
        pairs = [(i, other) for i, paper in enumerate(papers) for other in z_of[paper]]
        mine, theirs = np.array(pairs).T
        near = np.bincount(mine, texts.cosines(mine, llm, theirs), len(papers)) / 2
        far = sum(texts.with_sum(total) for total in of_llm) / 2
        return peers, near - (far - near) / (len(z) / 2 - 1)

    own = stand(people, [row["paper"] for row in reviews])
    of_z = stand(llm, [row["paper"] for row in z])
    copied = stand(cuts, [reviews[index]["paper"] for index, _ in of_copy])
    with open(folder / "peer.csv", "w", encoding="utf-8") as file:
        for row, peers, near in zip(reviews, *own):
            file.write(f"{row['paper']},{row['reviewer']},{peers:.6f},{near:.6f}\n")
    print(np.mean(own, axis=1), np.mean(of_z, axis=1), np.mean(copied, axis=1))


def timed(command):
    """Processor seconds, wall seconds and megabytes of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def main():
    if sys.argv[1] == "--peer":
        peer(Path(sys.argv[2]))
        return
    os.environ.update(RAYON_NUM_THREADS="2", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")
    for part in [int(part) for part in sys.argv[2:]] or [8, 4, 2, 1]:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(os.environ.get("KEEP", folder)) 
            reviews = write_venue(part, folder)
            files = [str(folder / "reviews.jsonl"), "--z", str(folder / "z.jsonl")]
            ours = timed([sys.argv[1], "reviews", *files, "-o", str(folder / "caz.csv")])
            theirs = timed([sys.executable, __file__, "--peer", str(folder)])
        ratio = ours[0] / theirs[0]
        print(f"{reviews} reviews: caz {ours[0]:.1f} s (wall {ours[1]:.1f}, {ours[2]:.0f} MB), scikit-learn "
              f"{theirs[0]:.1f} s (wall {theirs[1]:.1f}, {theirs[2]:.0f} MB), ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
