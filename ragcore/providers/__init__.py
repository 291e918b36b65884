"""Model registry by name. A provider's libraries are loaded on first request.

A model is named ``provider:model``, for example ``bundled:bge-small-en-v1.5`` or
``sentence-transformers:BAAI/bge-small-en-v1.5``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragcore.errors import ModelMissing

if TYPE_CHECKING:
    from ragcore.protocols import Embedder, Entailment, Reranker

PROVIDERS = ("bundled", "sentence-transformers")


def embedder(name: str, *, threads: int = 0) -> Embedder:
    """Embedder named ``provider:model``, ready to run; ``threads`` of 0 means one per core.

    Raises `ModelMissing` that names the known ones, or `ModelDamaged`.
    """
    provider, model = _split(name, "index.embedder")
    if provider == "bundled":
        from ragcore.providers.bundled import BundledEmbedder

        return BundledEmbedder(model, threads=threads)
    from ragcore.providers.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model, threads=threads)


def reranker(name: str, *, threads: int = 0) -> Reranker | None:
    """Reranker named ``provider:model``, ready to run, or None for ``none``.

    Raises `ModelMissing` that names the known ones, or `ModelDamaged`.
    """
    if name == "none":
        return None
    provider, model = _split(name, "rerank.model")
    if provider == "bundled":
        from ragcore.providers.bundled import BundledReranker

        return BundledReranker(model, threads=threads)
    from ragcore.providers.sentence_transformers import SentenceTransformersReranker

    return SentenceTransformersReranker(model, threads=threads)


def entailment(name: str, *, threads: int = 0) -> Entailment | None:
    """Entailment model named ``sentence-transformers:model``, ready to run, or None for ``off``.

    Raises `ModelMissing` if it cannot be loaded, and `ModelError` for a model of another kind.
    """
    if name == "off":
        return None
    provider, model = _split(name, "verify.entailment")
    if provider == "bundled":
        raise ModelMissing(
            f"verify.entailment = {name!r}: no entailment model ships with Groundwork.",
            hint='Use "sentence-transformers:NAME-OR-FOLDER", or "off".',
        )
    from ragcore.providers.sentence_transformers import SentenceTransformersEntailment

    return SentenceTransformersEntailment(model, threads=threads)


def _split(name: str, key: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        raise ModelMissing(
            f"{key} = {name!r} isn't a model Groundwork can run.",
            hint=f"Use provider:model; the provider is {' or '.join(PROVIDERS)}, "
            'for example "bundled:bge-small-en-v1.5" or "bundled:ms-marco-MiniLM-L-12-v2".',
        )
    return provider, model
