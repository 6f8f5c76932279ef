"""Makes tests/golden/tiny: one tiny random encoder per family and what sentence-transformers says.

    python tests/golden/make_tiny.py [FAMILY...]

Every folder is stored differently on purpose: shards, a prefix, PyTorch's own format, a head that
must be ignored. `expected.json` holds, per family, texts with their unit vectors (the model's own
pooling) and token id sequences with the mean of the last hidden state. Weights are drawn with a
standard deviation of 0.4, not 0.02, so that the activation function and the positions matter.
"""

import json
import shutil
import string
import sys
from pathlib import Path

import sentence_transformers
import tokenizers
import torch
import transformers
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordPiece

HERE = Path(__file__).parent / "tiny"
LETTERS = string.ascii_lowercase
POSITIONS = 40
SIZES = dict(hidden_size=16, num_attention_heads=2, intermediate_size=24)
TEXTS = [
    "a",
    "the cat sat",
    "review of a paper",
    "Capital Letters, and 42 unknown signs!",
    "zzz q",
    "one two three four five six seven",
    "this text is longer than the forty tokens which the tiny models take at once, so it is cut",
]


def wordpiece():
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    names += list(LETTERS) + ["##" + letter for letter in LETTERS]
    tokenizer = Tokenizer(WordPiece({n: i for i, n in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = dict(
        pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )
    return tokenizer, special, len(names)


def unigram():
    names = ["<s>", "<pad>", "</s>", "<unk>", "\u2581"] + list(LETTERS) + ["th", "\u2581a", "er"]
    pieces = [(name, -1.0 - i / 10) for i, name in enumerate(names)]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    special = dict(
        pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>", bos_token="<s>",
        eos_token="</s>",
    )
    return tokenizer, special, len(names)


def bytes_and_end():
    """As Qwen3-Embedding has it: bytes, and the end of the text as a token, which is pooled."""
    names = sorted(pre_tokenizers.ByteLevel.alphabet()) + ["<|endoftext|>"]
    tokenizer = Tokenizer(BPE({n: i for i, n in enumerate(names)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    template = processors.TemplateProcessing(
        single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 256)]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(), template])
    end = "<|endoftext|>"
    return tokenizer, dict(pad_token=end, eos_token=end), len(names)


def randomize(model):
    generator = torch.Generator().manual_seed(20251121)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            center = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            weight.copy_(center + 0.4 * noise)
    return model.eval()


def encoder(family, vocabulary):
    t = transformers
    if family.startswith("bert"):
        config = t.BertConfig(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS, num_hidden_layers=2, **SIZES
        )
        return randomize(t.BertModel(config))
    if family == "xlm-roberta":
        # 41 positions are 39 tokens: positions start at the padding id + 1 = 2.
        config = t.XLMRobertaConfig(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS + 1, num_hidden_layers=2,
            type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5, **SIZES
        )
        return randomize(t.XLMRobertaModel(config))
    if family == "mpnet":
        # As for XLM-R; its positions start at 2 whatever the padding id.
        config = t.MPNetConfig(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS + 1, num_hidden_layers=2, **SIZES
        )
        return randomize(t.MPNetModel(config))
    if family == "distilbert":
        config = t.DistilBertConfig(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS, n_layers=2, n_heads=2, dim=16,
            hidden_dim=24,
        )
        return randomize(t.DistilBertModel(config))
    if family == "nomic_bert":
        config = t.NomicBertConfig(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS, num_hidden_layers=2, **SIZES
        )
        return randomize(t.NomicBertModel(config))
    if family == "qwen3":
        config = t.Qwen3Config(
            vocab_size=vocabulary, max_position_embeddings=POSITIONS, num_hidden_layers=2,
            num_key_value_heads=1, head_dim=12, **SIZES
        )
        model = randomize(t.Qwen3Model(config))
        # In half precision, as it is published; the angles are not.
        for weight in model.parameters():
            weight.data = weight.data.bfloat16().float()
        return model
    config = t.ModernBertConfig(
        vocab_size=vocabulary, max_position_embeddings=POSITIONS, num_hidden_layers=4,
        local_attention=8, pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2,
        eos_token_id=3, **SIZES
    )
    return randomize(t.ModernBertModel(config))


def store(family, model, folder):
    for file in folder.glob("*.safetensors*"):
        file.unlink()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if family == "bert":
        model.save_pretrained(folder, max_shard_size="10KB")
    elif family == "xlm-roberta":
        state = {"roberta." + name: tensor for name, tensor in state.items()}
        state["lm_head.bias"] = torch.zeros(3)
        from safetensors.torch import save_file

        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    elif family == "distilbert":
        state = {"distilbert." + name: tensor for name, tensor in state.items()}
        torch.save(state, folder / "pytorch_model.bin")
    elif family == "qwen3":
        from safetensors.torch import save_file

        state = {name: tensor.bfloat16() for name, tensor in state.items()}
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    elif family in ("mpnet", "bert-dense", "bert-last", "nomic_bert"):
        model.save_pretrained(folder)
    else:
        from safetensors.torch import save_file

        state = {"model." + name: tensor for name, tensor in state.items()}
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def rounded(values):
    return [float(f"{value:.7g}") for value in values]


def make(family):
    makers = {"xlm-roberta": unigram, "qwen3": bytes_and_end}
    tokenizer, special, vocabulary = makers.get(family, wordpiece)()
    model = encoder(family, vocabulary)
    limit = POSITIONS - 1 if family in ("xlm-roberta", "mpnet") else POSITIONS
    source = HERE / "source"
    model.save_pretrained(source)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=limit, **special
    )
    fast.save_pretrained(source)
    transformer = models.Transformer(str(source))
    poolings = {
        "xlm-roberta": "cls", "bert-dense": "max", "bert-last": "lasttoken", "qwen3": "lasttoken"
    }
    modules = [transformer, models.Pooling(16, pooling_mode=poolings.get(family, "mean"))]
    if family == "bert-dense":
        modules += [randomize(models.Dense(16, 12)), randomize(models.Dense(12, 10, bias=False, activation_function=torch.nn.Identity()))]
    more = {}
    if family == "bert-last":
        more = dict(prompts={"query": "query: ", "passage": ""}, default_prompt_name="query", truncate_dim=10)
    if family == "qwen3":
        more = dict(prompts={"query": "Instruct: find it\nQuery:", "document": ""})
    sentence = SentenceTransformer(modules=[*modules, models.Normalize()], device="cpu", **more)
    folder = HERE / family
    shutil.rmtree(folder, ignore_errors=True)
    sentence.save(str(folder), create_model_card=False)
    shutil.rmtree(source)
    # As all-MiniLM-L6-v2 does: limits in tokenizer.json that must not be obeyed.
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    content["truncation"] = dict(direction="Right", max_length=9, strategy="LongestFirst", stride=0)
    content["padding"] = dict(
        strategy=dict(Fixed=12), direction="Right", pad_to_multiple_of=None, pad_id=0,
        pad_type_id=0, pad_token=special["pad_token"],
    )
    path.write_text(json.dumps(content, ensure_ascii=False))
    store(family, model, folder)

    # One that cuts vectors does so after the norm is taken.
    vectors = [sentence.encode(text, normalize_embeddings=True) for text in TEXTS]
    sequences = [[2, 7, 3], [0, 30, 2], [5, 6, 7, 8, 9, 10, 1, 12, 13, 14, 15, 16, 17, 18], [9]]
    means = []
    with torch.no_grad():
        for ids in sequences:
            states = model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)))
            means.append(states.last_hidden_state[0].mean(0).tolist())
    prompted = {
        name: [
            rounded(sentence.encode(text, prompt_name=name, normalize_embeddings=True))
            for text in TEXTS
        ]
        for name in more.get("prompts", {})
    }
    return dict(
        texts=[dict(text=t, vector=rounded(v)) for t, v in zip(TEXTS, vectors)],
        prompted=prompted,
        sequences=[dict(ids=i, mean=rounded(m)) for i, m in zip(sequences, means)],
    )


def main():
    every = [
        "bert", "xlm-roberta", "distilbert", "modernbert", "mpnet", "nomic_bert", "qwen3", "bert-dense",
        "bert-last",
    ]
    path = HERE / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    for family in sys.argv[1:] or every:
        expected[family] = make(family)
    expected["made_with"] = dict(
        torch=torch.__version__,
        transformers=transformers.__version__,
        tokenizers=tokenizers.__version__,
        sentence_transformers=sentence_transformers.__version__,
    )
    path.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
