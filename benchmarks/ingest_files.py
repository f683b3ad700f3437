"""How many files a second become an index, beside the default readers of two peers.

    python -m benchmarks.ingest_files [--markdown 10000] [--pdf 300] [--repeat 2] [--peers PYTHON]

The files are made from the demo's sentences, with a seed. Each system runs in a process of its own, all of them in
turn: ``selfright`` makes an index that is searched by words, ``selfright, reading`` stops where the peers do, with
passages in memory. ``PYTHON`` is an interpreter that has ``llama-index-readers-file`` and ``haystack-ai``; there,
LlamaIndex reads with ``SimpleDirectoryReader`` and cuts with ``SentenceSplitter``, Haystack with ``TextFileToDocument``
or ``PyPDFToDocument`` and ``DocumentSplitter``.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from selfright.cli.commands.demo import DATA

_CLOCK = """
import json, os, sys, time
began = time.perf_counter()
def tell(passages):
    t = os.times()
    print(json.dumps([time.perf_counter() - began, t.user + t.system + t.children_user + t.children_system, passages]))
"""
_PROGRAMS = {
    "selfright": """
from selfright import Selfright
with Selfright.open(sys.argv[2], home=sys.argv[3], embedder="none") as selfright:
    tell(selfright.add([sys.argv[1]]).passages)
""",
    "selfright, reading": """
from pathlib import Path
from selfright.ingest.reading import discover, read
from selfright.ingest.splitting import split
tell(sum(len(split(document)) for file in discover([Path(sys.argv[1])]).files for document in read(file)))
""",
    "LlamaIndex, reading": """
from llama_index.core import SimpleDirectoryReader
from llama_index.core.node_parser import SentenceSplitter
tell(len(SentenceSplitter().get_nodes_from_documents(SimpleDirectoryReader(sys.argv[1], recursive=True).load_data())))
""",
    "Haystack, reading": """
import glob
from haystack.components.converters import PyPDFToDocument, TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter
files = sorted(glob.glob(sys.argv[1] + "/**/*.*", recursive=True))
reader = PyPDFToDocument() if files[0].endswith(".pdf") else TextFileToDocument()
splitter = DocumentSplitter()
splitter.warm_up()
tell(len(splitter.run(documents=reader.run(sources=files)["documents"])["documents"]))
""",
}


def sentences() -> list[str]:
    """Those of the demo's English documents."""
    texts = (path.read_text("utf-8") for path in sorted((DATA / "documents").rglob("en/*.md")))
    return [one for text in texts for one in re.findall(r"[A-Z][^.#|\n]{30,200}\.", text)]


def pages(files: int, seed: int) -> Iterator[list[tuple[str, list[str]]]]:
    """For each file its sections: a heading and paragraphs; 2,400 characters of text on average."""
    chance, known = random.Random(seed), sentences()
    for _ in range(files):
        yield [
            (chance.choice(known)[:40], [" ".join(chance.choices(known, k=chance.randint(2, 6))) for _ in range(2)])
            for _ in range(chance.randint(1, 5))
        ]


def write_markdown(folder: Path, files: int) -> None:
    for number, sections in enumerate(pages(files, 1)):
        path = folder / f"{number // 500:03}" / f"{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"## {heading}\n\n" + "\n\n".join(paragraphs) for heading, paragraphs in sections]
        path.write_text(f"# Page {number}\n\n" + "\n\n".join(parts) + "\n", "utf-8")


def write_pdf(folder: Path, files: int) -> None:
    """Twelve such pages in each file."""
    from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate  # type: ignore[import-untyped]

    folder.mkdir(parents=True, exist_ok=True)
    styles, every = getSampleStyleSheet(), pages(12 * files, 2)
    for number in range(files):
        story = []
        for _ in range(12):
            for heading, paragraphs in next(every):
                story += [Paragraph(heading, styles["Heading2"]), *(Paragraph(p, styles["Normal"]) for p in paragraphs)]
            story.append(PageBreak())
        SimpleDocTemplate(str(folder / f"{number:04}.pdf")).build(story)


def measure(name: str, python: str, folder: Path) -> tuple[float, float, int]:
    """Wall and processor seconds from the first import, and passages."""
    with tempfile.TemporaryDirectory() as place:
        made = [str(folder), f"{place}/index", f"{place}/home"]
        done = subprocess.run(
            [python, "-c", _CLOCK + _PROGRAMS[name], *made], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    seconds, busy, passages = json.loads(done.stdout.splitlines()[-1])
    return seconds, busy, passages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=int, default=10_000)
    parser.add_argument("--pdf", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--peers", help="an interpreter with the peers; without it, Selfright alone")
    options = parser.parse_args()
    systems = {name: sys.executable if name.startswith("selfright") else options.peers for name in _PROGRAMS}
    with tempfile.TemporaryDirectory() as place:
        for kind, files, write in (("markdown", options.markdown, write_markdown), ("pdf", options.pdf, write_pdf)):
            if not files:
                continue
            folder = Path(place) / kind
            write(folder, files)
            size = sum(path.stat().st_size for path in folder.rglob("*.*"))
            print(
                f"{files} files of {kind}, {size / 1e6:.1f} MB, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
            )
            for _ in range(options.repeat):
                for name, python in systems.items():
                    if python:
                        seconds, busy, passages = measure(name, python, folder)
                        print(
                            f"   {name:22}{files / seconds:9.1f} files/s{seconds:8.1f} s{busy:8.1f} s of a core"
                            f"{passages:9} passages",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
