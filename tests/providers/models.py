"""Models that tests make."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def tiny_cross_encoder(folder: Path, outputs: int = 1) -> Path:
    """A real, very small cross-encoder with random weights, saved in ``folder``."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "company", "property", "in", "cat", ".", "s", "##p"]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        num_labels=outputs,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    return folder


def unit_vectors(count: int, dimensions: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
