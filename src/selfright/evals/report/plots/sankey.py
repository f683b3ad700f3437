"""A flow from column to column: nodes stacked by share, ribbons between them as wide as what they carry.

A path may end before the last column: it then passes the columns between on a lane of its own, under the nodes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from selfright.evals.report.markup import Html, tag
from selfright.evals.report.plots.canvas import svg, words

_WIDTH, _TOP, _BOTTOM, _SIDE, _LAST = 760, 34, 4, 4, 150
_NODE, _GAP, _BODY = 14, 19, 250
_MOST_COLUMNS = 8

Path = tuple[str | None, ...]
"""A state for each column; None where the path passes by."""


@dataclass(frozen=True, slots=True)
class _Stop:
    """A node or a lane of one column: its state, and whether it is a lane, which belongs to the state before."""

    column: int
    state: str
    lane: bool = False


@dataclass(slots=True)
class _Place:
    """Where a stop is drawn, how many pass it, and how much of it ribbons have taken on either side."""

    top: float
    count: int
    taken_in: float = 0.0
    taken_out: float = 0.0


@dataclass(frozen=True, slots=True)
class Dress:
    """The class of each state, in the order of the nodes, and what each is called; ``plain`` classes are no colours."""

    styles: Mapping[str, str]
    names: Mapping[str, str]
    plain: tuple[str, ...] = ()

    def rank(self, stop: _Stop) -> tuple[bool, int, str]:
        """Where a stop stands in its column: lanes last."""
        order = list(self.styles)
        return stop.lane, order.index(stop.state) if stop.state in order else len(order), stop.state

    def style(self, state: str) -> str:
        """The class of a state."""
        return self.styles.get(state, "v-none")

    def between(self, here: str, there: str) -> str:
        """The class of a ribbon: that of its start, or where the start has no colour, of its end."""
        return self.style(there) if self.style(here) in self.plain else self.style(here)

    def name(self, state: str) -> str:
        """What a state is called."""
        return self.names.get(state, state)


def sankey(label: str, titles: Sequence[str], paths: Mapping[Path, int], dress: Dress) -> Html:
    """The flow as SVG; ``paths`` count how often each was taken.

    Raises ``ValueError`` when a path has another length than ``titles``, or there are more than 8 columns.
    """
    if len(titles) > _MOST_COLUMNS or any(len(path) != len(titles) for path in paths):
        raise ValueError(f"each path has a state for each of at most {_MOST_COLUMNS} columns, here {len(titles)}")
    flows: Counter[tuple[_Stop, _Stop]] = Counter()
    sizes: Counter[_Stop] = Counter()
    for taken, count in paths.items():
        track = _track(taken)
        sizes.update(dict.fromkeys(track, count))
        flows.update(dict.fromkeys(pairwise(track), count))
    unit = _BODY / max(1, sum(paths.values()))
    places = _placed(sizes, unit, dress)
    height = max(place.top + place.count * unit for place in places.values()) + _GAP + _BOTTOM if places else _TOP
    step = (_WIDTH - _SIDE - _LAST - _NODE) / max(1, len(titles) - 1)
    heads = [words(_x(number, step), 18, title, class_="head") for number, title in enumerate(titles)]
    drawn = (_ribbons(flows, places, unit, step, dress), _nodes(places, unit, step, dress), heads)
    return svg(label, _WIDTH, round(height, 1), *drawn, class_="plot flow")


def _track(path: Path) -> tuple[_Stop, ...]:
    stops: list[_Stop] = []
    for column, state in enumerate(path):
        before = stops[-1].state if stops else ""
        stops.append(_Stop(column, before, lane=True) if state is None else _Stop(column, state))
    return tuple(stops)


def _placed(sizes: Mapping[_Stop, int], unit: float, dress: Dress) -> dict[_Stop, _Place]:
    places: dict[_Stop, _Place] = {}
    tops: dict[int, float] = {}
    for stop in sorted(sizes, key=dress.rank):
        top = tops.get(stop.column, float(_TOP))
        places[stop] = _Place(top, sizes[stop])
        tops[stop.column] = top + max(sizes[stop] * unit, 2.0) + _GAP
    return places


def _ribbons(
    flows: Mapping[tuple[_Stop, _Stop], int], places: Mapping[_Stop, _Place], unit: float, step: float, dress: Dress
) -> Iterable[Html]:
    ordered = sorted(flows, key=lambda pair: (pair[0].column, dress.rank(pair[0]), dress.rank(pair[1])))
    for here, there in ordered:
        wide = flows[here, there] * unit
        start, end = places[here], places[there]
        yield _ribbon(
            (_x(here.column, step) + (0 if here.lane else _NODE), start.top + start.taken_out),
            (_x(there.column, step), end.top + end.taken_in),
            wide,
            f"ribbon {dress.between(here.state, there.state)}",
            f"{dress.name(here.state)} → {dress.name(there.state)}: {flows[here, there]}",
        )
        start.taken_out += wide
        end.taken_in += wide


def _ribbon(start: tuple[float, float], end: tuple[float, float], wide: float, class_: str, title: str) -> Html:
    (x, y), (to_x, to_y) = start, end
    bend = (x + to_x) / 2
    drawn = (
        f"M{x:.1f} {y:.1f}C{bend:.1f} {y:.1f} {bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
        f"v{wide:.1f}C{bend:.1f} {to_y + wide:.1f} {bend:.1f} {y + wide:.1f} {x:.1f} {y + wide:.1f}Z"
    )
    return tag("path", tag("title", title), d=drawn, class_=class_)


def _nodes(places: Mapping[_Stop, _Place], unit: float, step: float, dress: Dress) -> Iterable[Html]:
    for stop, place in places.items():
        if stop.lane:
            continue
        x, height = _x(stop.column, step), max(place.count * unit, 2.0)
        yield tag(
            "rect", x=x, y=round(place.top, 1), width=_NODE, height=round(height, 1),
            class_=f"node {dress.style(stop.state)}",
        )  # fmt: skip
        shown = f"{dress.name(stop.state)} {place.count:,}"
        yield words(round(x + _NODE + 5, 1), round(place.top + height / 2 + 4.5, 1), shown, class_="halo", most=30)


def _x(column: int, step: float) -> float:
    return round(_SIDE + column * step, 1)
