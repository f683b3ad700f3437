"""A tiny BERT of random numbers, saved as safetensors the way transformers saves it; where that is installed."""

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

MARKS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
NLI_NAMES = {0: "contradiction", 1: "entailment", 2: "neutral"}


def tiny_bert(folder: Path, texts: Iterable[str], *, labels: int = 1, seed: int = 0) -> Path:
    """A model that classifies pairs into ``labels`` labels. Skips the test where sentence-transformers is absent."""
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    transformers: Any = importlib.import_module("transformers")
    torch: Any = importlib.import_module("torch")
    words = word_tokenizer(texts)
    config = transformers.BertConfig(
        vocab_size=words.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,  # scores of pairs are then far apart
        id2label=NLI_NAMES if labels == len(NLI_NAMES) else {at: f"LABEL_{at}" for at in range(labels)},
    )
    torch.manual_seed(seed)
    transformers.BertForSequenceClassification(config).eval().save_pretrained(folder)
    marks = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, model_max_length=64, model_input_names=inputs, **marks
    )
    tokenizer.save_pretrained(folder)
    return folder


def word_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """A tokenizer of whole words that knows those of the texts, marked up as BERT's pairs are."""
    normalizing, splitting = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    found = {word for text in texts for word, _ in splitting.pre_tokenize_str(normalizing.normalize_str(text))}
    vocabulary = {word: number for number, word in enumerate((*MARKS, *sorted(found)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizing, splitting
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer
