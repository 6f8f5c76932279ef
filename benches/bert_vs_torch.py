"""Compares caz's `bert:` embedder with sentence-transformers on the same texts and threads.

    cargo build --release
    python benches/bert_vs_torch.py MODEL_FOLDER [--texts 2000] [--threads 2] [--repeats 3]

The texts are generated here (about 200 words each, fixed seed). Each program runs in a process of
its own, alternating, so that a busy machine slows both. The time of caz is that of the whole
command, loading and writing included; of sentence-transformers only the encoding counts. The peak
memory (maximum resident set) is that of the whole process. Prints documents per second
per run, the median ratio, peak memory and the largest difference of any component.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = """a about above accept after algorithm all also analysis and appendix approach are argue
as assumption authors baseline be because better between bound but by can claim clear comparison
compute conclusion condition contribution convergence could data dataset derive describe detail
different discussion does effect empirical equation error estimate evaluate evaluation evidence
example experiment explain fair few figure first follow for found from further general give good
gradient had has have however hypothesis idea if improve in inference information interesting into
introduction is issue it kernel label language large lemma less like limited literature main many
matrix measure method metric minor missing model more most network new no noise not notation novel
number of on one only optimal or other our out over paper parameter performance point policy poor
present prior problem proof propose prove provide quality question random rather reader reason
related report require result reviewer robust sample score second section see seem sentence set
several should show significant similar simple since small some sound state statistical step still
strong structure study such suggest support table task technical test than that the their theorem
theoretical theory there these they think this those three through time to training two typo under
unclear use useful value variance very was way we weak well were what when where whether which while
why will with without work would write writing""".split()


def make_texts(count):
    source = random.Random(20251121)
    texts = []
    for _ in range(count):
        words, length = [], source.randint(160, 240)
        while len(words) < length:
            sentence = source.choices(WORDS, k=source.randint(6, 24))
            sentence[0] = sentence[0].capitalize()
            sentence[-1] += source.choice([".", ".", ".", "?", ","])
            words += sentence
        texts.append(" ".join(words))
    return texts


def run_torch(model, texts, threads, batch, output):
    import numpy
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    encoder = SentenceTransformer(model, device="cpu")
    texts = json.loads(Path(texts).read_text())
    encoder.encode(texts[:4])
    start = time.perf_counter()
    vectors = encoder.encode(texts, batch_size=batch, show_progress_bar=False)
    seconds = time.perf_counter() - start
    numpy.asarray(vectors, dtype="<f4").tofile(output)
    print(seconds)


def measured(command):
    """Standard output of a child, its seconds and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    # wait4 gives the usage of this very child.
    import os

    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return out, time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32, help="sentence-transformers' batch size")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--torch-child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.torch_child:
        return run_torch(args.model, args.torch_child[0], args.threads, args.batch, args.torch_child[1])

    import numpy

    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.json"
        generated = make_texts(args.texts)
        texts.write_text(json.dumps(generated))
        lines = Path(folder) / "texts.jsonl"
        lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in generated))
        outputs = [str(Path(folder) / name) for name in ("caz.npy", "torch.f32")]
        commands = [
            [args.caz, "embed", str(lines), "--embedder", f"bert:{args.model}", "--vectors", "long-text=truncate", "--output", outputs[0],
             "--threads", str(args.threads)],
            [sys.executable, __file__, args.model, "--threads", str(args.threads), "--batch",
             str(args.batch), "--torch-child", str(texts), outputs[1]],
        ]
        runs = [[], []]
        for repeat in range(args.repeats):
            for which, name in enumerate(["caz", "sentence-transformers"]):
                out, seconds, memory = measured(commands[which])
                if which == 1:
                    seconds = float(out.split()[-1])
                runs[which].append((args.texts / seconds, memory))
                print(f"run {repeat + 1}: {name}: {args.texts / seconds:.1f} docs/s, {memory:.0f} MB",
                      flush=True)
        ours = numpy.load(outputs[0]).ravel()
        theirs = numpy.fromfile(outputs[1], dtype="<f4")
        ratio = statistics.median(a[0] / b[0] for a, b in zip(*runs))
        memory = max(m for _, m in runs[0]) / max(m for _, m in runs[1])
        print(f"throughput ratio (median of {args.repeats}): {ratio:.2f}")
        print(f"peak memory ratio: {memory:.2f}")
        print(f"largest difference: {abs(ours - theirs).max():.1e}")


if __name__ == "__main__":
    main()
