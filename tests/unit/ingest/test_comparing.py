"""What two rankings may differ by before two indexes are called unequal."""

from selfright.domain.passages import Hit, Passage
from selfright.ingest.comparing import _alike


def hits(*scores: tuple[str, float]) -> list[Hit]:
    return [Hit(Passage(name, name, "", "text", 0, 4), score) for name, score in scores]


KNOWN = hits(*((f"p{place}", 1.0 - place / 20) for place in range(14)))


def test_the_same_is_alike_and_ties_may_stand_in_either_order() -> None:
    assert _alike(KNOWN, KNOWN[:10]) == (1.0, True)
    tied = hits(("a", 1.0), ("b", 0.5), ("c", 0.4996))
    assert _alike(tied, [tied[0], tied[2], tied[1]]) == (1.0, True)


def test_another_order_is_told_from_other_passages() -> None:
    swapped = [KNOWN[1], KNOWN[0], *KNOWN[2:10]]
    assert _alike(KNOWN, swapped) == (1.0, False)
    lower = [*KNOWN[:9], KNOWN[11]]
    assert _alike(KNOWN, lower) == (0.9, False)
    assert _alike(KNOWN, [*KNOWN[:9], *hits(("other", 1.0))]) == (0.9, False)


def test_a_tie_at_the_tenth_place_is_no_loss() -> None:
    known = hits(*((f"p{place}", 1.0 - place / 20) for place in range(9)), ("x", 0.3), ("y", 0.3))
    assert _alike(known, [*known[:9], known[10]]) == (1.0, True)


def test_nothing_found_is_alike_to_nothing_only() -> None:
    assert _alike([], []) == (1.0, True)
    assert _alike([], KNOWN[:1]) == (0.0, False)
    assert _alike(KNOWN, []) == (0.0, False)
