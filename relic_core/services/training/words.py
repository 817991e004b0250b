"""What recipes are for, and what each of their settings does, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relic_core.domain.trainings import ModelKind

ABOUT = {
    "default": "The recipe that taught the best models here: two encoders from one small base.",
    "laptop": "The same for a machine with little memory: smaller batches, states made twice instead of kept.",
    "paper": "The RELiC paper's own recipe, for comparison. It begins from RoBERTa-base and wants a graphics card.",
    "reranker": "Teaches what reads the first hundred anew, each beside the claim, and puts them in order.",
}
"""Recipes, by name."""

SETTINGS = {
    "name": "What the recipe is called.",
    "base": "The model it begins from: a folder, or a name in Hugging Face's local cache. Empty for the packaged one.",
    "shared": "One encoder for claims and quotations alike, instead of two. Half the size, and usually worse.",
    "pooling": "How a text becomes one vector: the mean of its tokens, or its first token as in the paper.",
    "similarity": "How claims and quotations are compared: by angle (cosine), or by angle and length (dot).",
    "temperature": "How sharply near misses are told apart: lower is sharper.",
    "mask": "Whether the encoder sees where in the criticism the quotation stood.",
    "batch": "Quotations taught together; each is a wrong answer to the others' claims, so more is harder and better.",
    "window_batch": "The same for quotations of works in your library, all of one work.",
    "stretches": "Pages of that work that are read beside them, as further wrong answers.",
    "share": "Share of the batches that hold quotations of works, read in their context: 0 to 1.",
    "cached": "Saves memory by reading everything twice. The result is the same.",
    "chunk_tokens": "How much is read at a time; 0 leaves it to the program. Lower it where memory runs out.",
    "epochs": "How many times all quotations are read.",
    "steps": "Stop after so many batches, whatever the epochs say; 0 for no such limit.",
    "learning_rate": "How much each batch changes the model. Too high and the loss runs away.",
    "warmup": "Share of the training in which that rate rises to its height.",
    "weight_decay": "How strongly weights are drawn back towards zero.",
    "clip": "The largest change that one batch may ask for; 0 for any.",
    "schedule": "Whether the rate falls to zero towards the end, or stays.",
    "precision": "Number format of the products: bfloat16 is faster on recent processors, float32 exact.",
    "dropout": "Share of the states left out by chance. Costs much time on a processor.",
    "frozen_embeddings": "Leaves the words' own vectors as they are: less memory, smaller files.",
    "lora_rank": "Teach small additions to the layers instead of the layers: their rank; 0 teaches the layers.",
    "blend": "How much of what was learnt is written: 1 for all of it; less keeps more of the model it began from.",
    "shapes": "How much of the criticism around a quotation is shown, with weights: 4/4 is four sentences either side.",
    "claim_tokens": "The most tokens read of a claim.",
    "passage_tokens": "The most tokens read of a quotation by itself.",
    "claim_windows": "Lengths in tokens to which a claim is cut when searching, all added up; none to read it once.",
    "window": "Tokens of a work that are read together; also when searching with the model.",
    "longest": "The most sentences of a quotation of a work.",
    "hard_negatives": "Wrong answers of its own for each quotation, where such were looked for.",
    "seed": "Decides all that is left to chance: the same number, the same training.",
    "validate_every": "Batches between two validations; 0 for one at the end.",
    "patience": "Stop after so many validations without a better one; 0 for never.",
    "watch": "The figure that decides which weights are kept.",
}
"""Settings of a recipe that makes an encoder, by key."""

_OF_RERANKERS = {
    "reading": "Whether the claim is read once, before all passages, or anew together with each: three times as slow.",
    "pooling": "What the score is made of: how like the passage's tokens are to the claim's; or their mean; or, read "
    "together, the first token.",
    "context": "Sentences of the work that are read on either side of a passage: 0 or 1.",
    "negatives": "Wrong passages that each quotation is to be told from: hard ones where any were found, then others.",
    "batch": "Quotations taught together.",
    "window": "Tokens of claim and passage together, also when searching with the model.",
}
"""Those that a reranker's recipe alone has, or that mean something else there."""

CHOICES = {
    "reading": ("claim first", "together"),
    "pooling": ("mean", "first"),
    "similarity": ("cosine", "dot"),
    "precision": ("bfloat16", "float32"),
    "schedule": ("linear", "constant"),
}
"""What settings of words may be, by key."""
_CHOICES_OF_RERANKERS = {"pooling": ("likeness", "mean", "first")}


def choices(key: str, kind: ModelKind) -> tuple[str, ...]:
    """List what a setting of words may be; nothing for any other."""
    return (_CHOICES_OF_RERANKERS.get(key, ()) if kind == "reranker" else ()) or CHOICES.get(key, ())


def explained(key: str, kind: ModelKind) -> str:
    """Say what a setting of a recipe does; nothing for what is none."""
    return (_OF_RERANKERS.get(key, "") if kind == "reranker" else "") or SETTINGS.get(key, "")
