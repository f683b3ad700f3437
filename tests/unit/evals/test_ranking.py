"""Measures of rankings: as trec_eval has them, and as the textbooks write them down."""

import math
import random
import sys

import pytest
import pytrec_eval

from selfright.domain.errors import MissingExtra, UsageError
from selfright.evals.beir import JudgedQuery
from selfright.evals.retrieval import MEASURES, depth_of, parse_measures, run_lines, score_rankings

RANDOM = random.Random(5)
DOCUMENTS = [f"d{n}" for n in range(60)]
QUERIES = [
    JudgedQuery(f"q{n}", "", {name: RANDOM.randint(0, 2) for name in RANDOM.sample(DOCUMENTS, 12)} | {"d0": 1})
    for n in range(20)
]
RANKINGS = {query.id: RANDOM.sample(DOCUMENTS, RANDOM.randint(0, 40)) for query in QUERIES}


def ndcg(ranking: list[str], grades: dict[str, int], k: int) -> float:
    found = sum(grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(ranking[:k]))
    ideal = sorted(grades.values(), reverse=True)[:k]
    return found / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def by_hand(query: JudgedQuery, ranking: list[str]) -> dict[str, float]:
    good = {name for name, grade in query.grades.items() if grade > 0}
    first = next((place for place, name in enumerate(ranking[:10], 1) if name in good), 0)
    return {
        "nDCG@10": ndcg(ranking, dict(query.grades), 10),
        "R@10": len(good & set(ranking[:10])) / len(good),
        "R@100": len(good & set(ranking[:100])) / len(good),
        "P@10": len(good & set(ranking[:10])) / 10,
        "RR@10": 1 / first if first else 0.0,
    }


def test_measures_are_those_of_the_textbook() -> None:
    found = score_rankings(RANKINGS, QUERIES, parse_measures(MEASURES))
    for query in QUERIES:
        assert found[query.id] == pytest.approx(by_hand(query, RANKINGS[query.id]), abs=1e-6)


def test_measures_are_those_of_trec_eval() -> None:
    judged = {query.id: dict(query.grades) for query in QUERIES}
    run = {name: {d: float(-place) for place, d in enumerate(ranking)} for name, ranking in RANKINGS.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_10", "recall_10", "P_10"})
    theirs = evaluator.evaluate(run)
    ours = score_rankings(RANKINGS, QUERIES, parse_measures(["nDCG@10", "R@10", "P@10"]))
    for name, values in theirs.items():
        assert ours[name]["nDCG@10"] == pytest.approx(values["ndcg_cut_10"], abs=1e-6)
        assert ours[name]["R@10"] == pytest.approx(values["recall_10"], abs=1e-6)
        assert ours[name]["P@10"] == pytest.approx(values["P_10"], abs=1e-6)


def test_a_query_for_which_nothing_was_found_counts_as_nothing() -> None:
    query = JudgedQuery("q", "", {"d1": 1})
    assert score_rankings({"q": []}, [query], parse_measures(["nDCG@10"])) == {"q": {"nDCG@10": 0.0}}


def test_a_long_ranking_keeps_its_order() -> None:
    names = [f"d{n}" for n in range(5_000)]
    for place in (1, 100, 2_500, 5_000):
        found = score_rankings({"q": names}, [JudgedQuery("q", "", {f"d{place - 1}": 1})], parse_measures(["RR"]))
        assert found["q"]["RR"] == pytest.approx(1 / place, rel=1e-6)


def test_names_of_measures() -> None:
    assert [str(measure) for measure in parse_measures(["P@3", "P@3", "nDCG@5"])] == ["P@3", "nDCG@5"]
    assert depth_of([]) == depth_of(parse_measures(["P@3"])) == depth_of(parse_measures(["RR"])) == 100
    assert depth_of(parse_measures(["R@250"])) == depth_of(parse_measures(["P@3", "R@250", "nDCG@10"])) == 250
    for wrong in ("ndgc@10", "P@", "", "import os"):
        with pytest.raises(UsageError, match="unknown measure"):
            parse_measures([wrong])


def test_without_the_library_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[eval\]"'):
        parse_measures(MEASURES)


def test_run_files_have_six_words_a_line() -> None:
    lines = list(run_lines({"q 1": ["a b", "c"]}, "tag"))
    assert lines == ["q_1 Q0 a_b 1 2 tag\n", "q_1 Q0 c 2 1 tag\n"]
