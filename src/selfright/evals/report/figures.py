"""Figures as they are shown: shares as points, scores with three decimals, a real minus."""

from selfright.evals.results import Difference, Estimate

NONE = "–"
_GAP = "\N{NO-BREAK SPACE}"
_COUNTS = ("iterations", "llm_calls")
_SHARES = ("right", "answered", "containment", "exact_match", "infinite_loop_rate", "cut_short", "retrieval_avoided")


def is_share(metric: str) -> bool:
    """Whether each question is 0 or 1 in it, so that its mean is a share of the questions."""
    return metric in _SHARES


def value(metric: str, number: float | None) -> str:
    """A metric's value: ``41.3 %``, ``2.13``, ``1,204``, ``0.52 s`` or ``0.413``."""
    if number is None:
        return NONE
    if is_share(metric):
        return share(number)
    if metric == "seconds":
        return seconds(number)
    if metric == "tokens":
        return f"{number:,.0f}"
    return minus(f"{number:.2f}" if metric in _COUNTS else f"{number:.3f}")


def interval(metric: str, found: Estimate | Difference) -> str:
    """The bounds, ``39.0 … 43.5 %``; nothing where there are none."""
    if found.low is None or found.high is None:
        return ""
    shown = format_signed if isinstance(found, Difference) else value
    low, high = shown(metric, found.low), shown(metric, found.high)
    unit = next(
        (unit for unit in (f"{_GAP}%", f"{_GAP}ms", f"{_GAP}s") if low.endswith(unit) and high.endswith(unit)), ""
    )
    return f"{low.removesuffix(unit)} … {high}"


def format_signed(metric: str, number: float) -> str:
    """A difference with its sign; of shares in points of a hundred."""
    if is_share(metric):
        return points(number)
    digits = 0 if metric == "tokens" else 2 if metric in (*_COUNTS, "seconds") else 3
    shown = f"{number:+,.{digits}f}" + (f"{_GAP}s" if metric == "seconds" else "")
    return minus(shown)


def points(number: float) -> str:
    """A difference of shares in points: ``+2.3``."""
    return minus(f"{100 * number:+.1f}")


def share(number: float | None) -> str:
    """``41.3 %``."""
    return NONE if number is None else f"{100 * number:.1f}{_GAP}%"


def seconds(number: float) -> str:
    """``340 ms``, ``2.41 s``, ``36 s``."""
    if number < 0.9995:
        return f"{1000 * number:.0f}{_GAP}ms"
    return f"{number:.2f}{_GAP}s" if number < 10 else f"{number:,.0f}{_GAP}s"


def chance(p: float) -> str:
    """A p value: ``< 0.001`` or three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def minus(shown: str) -> str:
    """With a real minus; nothing has no sign."""
    bare = shown.lstrip("+-")
    if shown[:1] in "+-" and not any(digit in bare for digit in "123456789"):
        return bare
    return shown.replace("-", "\N{MINUS SIGN}")
