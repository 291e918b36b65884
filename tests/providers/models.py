"""Models that tests make."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def tiny_cross_encoder(folder: Path, outputs: int = 1, activation: str | None = None) -> Path:
    """A real, very small cross-encoder with random weights, saved in ``folder``; ``activation`` is the name of the
    torch.nn class that its configuration asks for."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(exist_ok=True)
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
        initializer_range=0.8,
    )
    if activation is not None:
        config.sentence_transformers = {"version": "5.0.0", "activation_fn": f"torch.nn.{activation}"}
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    return folder


def tiny_cross_encoder_with_its_own_sigmoid(folder: Path) -> Path:
    """The same encoder with a head that ends in a sigmoid: transformer, pooling, dense layer."""
    import torch
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    tiny_cross_encoder(folder / "encoder")
    encoder = Transformer(str(folder / "encoder"), transformer_task="feature-extraction")
    torch.manual_seed(7)
    head = Dense(
        16, 1, activation_function=torch.nn.Sigmoid(), module_output_name="scores", init_weight=torch.randn(1, 16)
    )
    modules = [encoder, Pooling(16, pooling_mode="cls"), head]
    CrossEncoder(modules=modules, activation_fn=torch.nn.Identity()).save_pretrained(str(folder / "whole"))
    return folder / "whole"


def unit_vectors(count: int, dimensions: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
