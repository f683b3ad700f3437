"""Search across languages with the medical lexicon and without: Korean questions on English passages, and the reverse.

    python -m benchmarks.medical_cross_lingual [--data DIR] [--no-dense]

The demo's medical questions are asked of the documents in the *other* language alone (recall@5: a document named as
relevant is among the documents of the best five). With ``--data``, belebele's Korean questions are asked of its English
passages (nDCG@10; plain BM25 makes 0.112): general texts, for which a medical list cannot do much.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.retrieval_quality import fill, judgements, ndcg, rows, whole
from selfright.cli.commands.demo import DATA
from selfright.domain.passages import Document, Language
from selfright.domain.ports import Embedder, TermLexicon
from selfright.ingest.splitting import split
from selfright.models.encoder import E5
from selfright.retrieval.fusion import AdaptiveFusion
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright_medical.pack import BilingualLexicon, user_words

BEST = 5
DEPTH = 50
LANGUAGES: tuple[tuple[Language, Language], ...] = (("ko", "en"), ("en", "ko"))


def ranking(store: EmbeddedStore, query: str, lexicon: TermLexicon | None) -> list[str]:
    found = asyncio.run(store.with_fusion(AdaptiveFusion(), lexicon).search(query, DEPTH))
    return list(dict.fromkeys(hit.passage.document_id for hit in found.hits))


def demo(place: Path, embedder: Embedder | None) -> None:
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    for asked, read in LANGUAGES:
        folder = DATA / "documents" / "medical" / read
        with EmbeddedStore.create(place / read, BilingualTokenizer(user_words=user_words()), embedder) as store:
            for path in sorted(folder.iterdir()):
                text = path.read_text(encoding="utf-8")
                document = Document(f"medical/{read}/{path.name}", path.stem, text, read, collection="demo")
                store.put([(document, split(document))])
            store.commit()
            chosen = [
                (one["question"], {name for name in one["relevant"] if f"/{read}/" in name})
                for one in questions
                if one["id"].startswith(f"med-{asked}-") and not one.get("history")
            ]
            chosen = [(question, relevant) for question, relevant in chosen if relevant]
            for label, lexicon in (("without", None), ("with", BilingualLexicon())):
                print(f"demo {asked} → {read}, {label:7} the lexicon: {recall(store, chosen, lexicon)}")


def recall(store: EmbeddedStore, chosen: Sequence[tuple[str, set[str]]], lexicon: TermLexicon | None) -> str:
    found = sum(bool(relevant & set(ranking(store, question, lexicon)[:BEST])) for question, relevant in chosen)
    return f"recall@{BEST} {found / len(chosen):.3f} ({found} of {len(chosen)} questions)"


def belebele(data: Path, place: Path, embedder: Embedder | None) -> None:
    folder = data / "belebele_ko_en"
    qrels = judgements(folder / "ko/dev/qrels.tsv")
    queries = [(row["text"], qrels[row["_id"]]) for row in rows(folder / "ko/dev/queries.jsonl") if row["_id"] in qrels]
    with EmbeddedStore.create(place / "belebele", BilingualTokenizer(user_words=user_words()), embedder) as store:
        fill(store, folder / "en/corpus.jsonl", whole)
        for label, lexicon in (("without", None), ("with", BilingualLexicon())):
            score = fmean(ndcg(ranking(store, text, lexicon), grades) for text, grades in queries)
            print(f"belebele ko → en, {label:7} the lexicon: nDCG@10 {score:.3f} ({len(queries)} questions)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--no-dense", action="store_true", help="words only")
    options = parser.parse_args()
    embedder = None if options.no_dense else E5()
    with tempfile.TemporaryDirectory() as place:
        demo(Path(place), embedder)
        if options.data:
            belebele(options.data, Path(place), embedder)


if __name__ == "__main__":
    main()
