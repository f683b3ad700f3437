"""Stop words are left out of queries, but never the word that matters."""

import pytest

from selfright.retrieval.tokenizer import content_terms


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("What does the IT policy say?", ["it", "policy", "say"]),
        ("it is what the policy says", ["policy", "says"]),
        ("the WHO guideline on salt", ["who", "guideline", "salt"]),
        ("Who wrote the guideline?", ["wrote", "guideline"]),
        ("Is the office closed in May?", ["office", "closed", "may"]),
        ("May I work from home?", ["work", "home"]),
        ("WHO MAY DO IT", ["who", "may", "do", "it"]),  # nothing else would be left
        ("HOW TO DO IT WITH GIT", ["git"]),  # a headline has no names
        ("IT 정책", ["it", "정책"]),
        ("WHO 지침은", ["who", "지침은"]),
    ],
)
def test_a_stop_word_that_is_a_name_is_searched_for(text: str, kept: list[str]) -> None:
    terms = text.lower().replace("?", "").split()
    assert content_terms(terms, text) == kept
