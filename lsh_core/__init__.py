"""The pure core of Lookalike, in the order of a document's way.

A line is parsed to a document, its text normalized and shingled, the shingles minhashed to
a signature, the signature banded to keys; documents that share a key are candidates, and
exact Jaccard similarity decides. Plural names take a batch of normalized texts, singular
names one raw text.

>>> settings = Settings(threshold=0.5, shingle="char:4")
>>> one, other = (shingle_set(text, settings) for text in ("the same words", "these same words"))
>>> jaccard(one, other) == 9 / 15
True
"""

from lsh_core.errors import LookalikeError, RejectedLine, SettingsError
from lsh_core.settings import Settings
from lsh_core.document import Document, DocumentBatch, parse_line, read_documents
from lsh_core.normalize import normalize_text, normalize_texts
from lsh_core.stop_words import ENGLISH_STOP_WORDS
from lsh_core.shingling import ShingleBlock, shingle_blocks, shingle_set
from lsh_core.minhash import estimate_similarity, signature, signatures
from lsh_core.banding import band_keys, document_keys
from lsh_core.tuning import choose_bands, s_curve
from lsh_core.candidates import candidate_pairs
from lsh_core.jaccard import ShingleSets, intersection_sizes, jaccard, shingle_sets, similarities

__all__ = [
    "ENGLISH_STOP_WORDS",
    "Document",
    "DocumentBatch",
    "LookalikeError",
    "RejectedLine",
    "Settings",
    "SettingsError",
    "ShingleBlock",
    "ShingleSets",
    "band_keys",
    "candidate_pairs",
    "choose_bands",
    "document_keys",
    "estimate_similarity",
    "intersection_sizes",
    "jaccard",
    "normalize_text",
    "normalize_texts",
    "parse_line",
    "read_documents",
    "s_curve",
    "shingle_blocks",
    "shingle_set",
    "shingle_sets",
    "signature",
    "signatures",
    "similarities",
]
