"""How long a turn takes over the articles of covidqa, and whether every citation's text equals its span.

python -m benchmarks.turn_latency --data DIR [--questions 100] [--preset full]
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from selfright import Selfright


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds covidqa/")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--preset", default="full")
    options = parser.parse_args()
    folder = options.data / "covidqa"
    questions = [json.loads(line) for line in (folder / "dev" / "qa.jsonl").open(encoding="utf-8")]
    texts = {d["_id"]: d["text"] for d in map(json.loads, (folder / "documents.jsonl").open(encoding="utf-8"))}
    with tempfile.TemporaryDirectory() as place, Selfright.open(Path(place) / "index") as selfright:
        began = time.perf_counter()
        report = selfright.add([folder / "documents.jsonl"])
        print(f"indexed {report.added} documents, {report.passages} passages in {time.perf_counter() - began:.1f} s")
        selfright.ask("Is everything loaded?")
        times, exact, citations, contains, abstained = [], 0, 0, 0, 0
        for question in questions[: options.questions]:
            began = time.perf_counter()
            answer = selfright.ask(question["question"], preset=options.preset)
            times.append(time.perf_counter() - began)
            abstained += answer.abstained
            contains += question["answer"].casefold() in " ".join(c.text for c in answer.citations).casefold()
            for citation in answer.citations:
                citations += 1
                exact += texts[citation.document_id][citation.start : citation.end] == citation.text
    times.sort()
    median, late = 1000 * statistics.median(times), 1000 * times[int(0.95 * len(times))]
    print(f"{options.preset}: p50 {median:.0f} ms, p95 {late:.0f} ms")
    print(f"citations whose text equals their span: {exact} of {citations}")
    print(f"answers whose citations contain the gold span: {contains}, abstained: {abstained} of {len(times)}")
    return 0 if exact == citations else 1


if __name__ == "__main__":
    sys.exit(main())
