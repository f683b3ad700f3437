"""Judge output as models damage it: pure functions from the object that was meant to the text that came instead."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from selfright.domain.errors import UnknownName

Data = Mapping[str, Any]
Change = Callable[[float], Any]

_NOT_SCORES = frozenset(("n", "id", "index", "number", "rank"))
_LABEL = re.compile(r"[a-z]+(?:_[a-z]+)*")
_KOREAN_KEYS = {
    "grounding": "근거성", "completeness": "완전성", "accuracy": "정확성", "confidence": "신뢰도",
    "answer_quality": "답변 품질", "missing_info": "부족한 정보", "improvement_suggestions": "개선 제안",
    "needs_retrieval": "재검색 필요", "reason": "평가 사유", "claims": "주장", "passages": "문단",
    "probability": "확률", "sufficiency": "충분성",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """One kind of damage. ``salvageable``: what was meant can still be told for sure, so a careful reader may take it.

    Otherwise a reader must not take it, or only with the spoilt part as unknown. ``needs`` names what an object must
    have for this damage to show: ``score`` or ``label``, empty for nothing.
    """

    spoil: Callable[[Data], str]
    salvageable: bool
    needs: str = ""

    def fits(self, data: Data) -> bool:
        """Whether ``data`` has anything that this kind can spoil."""
        return not self.needs or _has(data, self.needs)


def damaged(kind: str, data: Data) -> str:
    """``data`` as text, damaged. Raises ``UnknownName``, and ``ValueError`` where there is nothing to spoil."""
    if kind not in DAMAGES:
        raise UnknownName("damage", kind, DAMAGES)
    if not DAMAGES[kind].fits(data):
        raise ValueError(f"'{kind}' spoils a {DAMAGES[kind].needs}, but the object has none: {sorted(data)}")
    return DAMAGES[kind].spoil(data)


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _has(data: Any, what: str) -> bool:
    """Whether a score or a label occurs anywhere in ``data``."""
    found = False

    def note(value: Any) -> Any:
        nonlocal found
        found = True
        return value

    _walked(data, note if what == "score" else _kept, note if what == "label" else _kept)
    return found


def _kept(value: Any) -> Any:
    return value


def _walked(data: Any, score: Callable[[float], Any], label: Callable[[str], Any], key: str = "") -> Any:
    """A copy of ``data`` with each score and each label replaced; numbers of passages are no scores."""
    if isinstance(data, Mapping):
        return {name: _walked(value, score, label, name) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_walked(value, score, label) for value in data]
    if isinstance(data, int | float) and not isinstance(data, bool):
        return score(float(data)) if key and key not in _NOT_SCORES else data
    return label(data) if isinstance(data, str) and key and _LABEL.fullmatch(data) else data


def _scores(change: Change) -> Callable[[Data], str]:
    return lambda data: _json(_walked(data, change, _kept))


def _labels(change: Callable[[str], Any]) -> Callable[[Data], str]:
    return lambda data: _json(_walked(data, _kept, change))


def _keys(data: Any, change: Callable[[str], str]) -> Any:
    if isinstance(data, Mapping):
        return {change(name): _keys(value, change) for name, value in data.items()}
    return [_keys(value, change) for value in data] if isinstance(data, list | tuple) else data


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _opposite(data: Data) -> dict[str, Any]:
    """Another object of the same form that says something else."""
    changed: dict[str, Any] = _walked(data, lambda score: 0.0 if score >= 0.5 else 1.0, lambda label: f"not_{label}")
    return changed if changed != dict(data) else dict.fromkeys(data)


def _without_one(data: Data) -> str:
    """Without one field: the first with a score in it, else the first one."""
    gone = next((name for name, value in data.items() if _has({name: value}, "score")), next(iter(data), ""))
    return _json({name: value for name, value in data.items() if name != gone})


def _python(data: Data) -> str:
    return repr(json.loads(_json(data)))


def _single_quoted(data: Data) -> str:
    return re.sub(
        r"(?<=: )(?:True|False|None)\b", lambda match: {"None": "null"}.get(match[0], match[0].lower()), _python(data)
    )


def _commented(data: Data) -> str:
    return _json(data).replace("{", "{ // the judgement\n", 1).replace(", ", ", /* next */ ", 1)


def _bare_keys(data: Data) -> str:
    return re.sub(r'"(\w+)":', r"\1:", _json(data))


def _in_prose(data: Data) -> str:
    return f"Here is what I found after reading everything:\n\n{_json(data)}\n\nI hope this helps! {{smile}}"


def _table(data: Data) -> str:
    rows = "".join(f"| {name} | {value} |\n" for name, value in data.items())
    return f"| field | value |\n|---|---|\n{rows}"


def _cut_off(data: Data) -> str:
    text = _json(data)
    return text[: max(1, len(text) * 3 // 5)]


def _cut_in_number(data: Data) -> str:
    """Ends inside the first score: ``0.85`` may come as ``0.``."""
    text = _json(data)
    match = re.search(r"[01]\.\d", text)
    return text[: match.end() - 1] if match else _cut_off(data)


def _full_width(data: Data) -> str:
    wide = {ord(narrow): ord(narrow) + 0xFEE0 for narrow in "0123456789.:,"}
    return re.sub(r": [\d.]+", lambda match: match[0].translate(wide), _json(data))


DAMAGES: Mapping[str, Damage] = MappingProxyType(
    {
        # Around the object
        "fenced": Damage(lambda data: f"```json\n{_json(data)}\n```", True),
        "fenced-in-prose": Damage(lambda data: f"Sure!\n```\n{_json(data)}\n```\nAnything else?", True),
        "prose-around": Damage(_in_prose, True),
        "korean-prose": Damage(lambda data: f"평가 결과는 다음과 같습니다.\n{_json(data)}\n이상입니다.", True),
        "byte-order-mark": Damage(lambda data: "\ufeff" + _json(data), True),
        "thinking": Damage(lambda data: f"<think>Hm, let me see.</think>\n{_json(data)}", True),
        "thinking-of-another": Damage(
            lambda data: f"<think>Perhaps {_json(_opposite(data))}? No.</think>{_json(data)}", True
        ),
        "only-in-thinking": Damage(lambda data: f"<think>It will be {_json(data)}</think>\nDone.", False),
        "unclosed-thinking": Damage(lambda data: f"<think>It will be {_json(data)}", False),
        "nested": Damage(lambda data: _json({"result": data}), True),
        "list-of-one": Damage(lambda data: _json([data]), True),
        "string-of-json": Damage(lambda data: _json(_json(data)), True),
        "two-alike": Damage(lambda data: f"{_json(data)}\n{_json(data)}", True),
        "two-that-differ": Damage(lambda data: f"{_json(data)}\n{_json(_opposite(data))}", False),
        "list-of-two": Damage(lambda data: _json([data, _opposite(data)]), False),
        # Its syntax
        "trailing-comma": Damage(lambda data: _json(data)[:-1] + ",}", True),
        "single-quotes": Damage(_single_quoted, True),
        "python-literals": Damage(_python, True),
        "comments": Damage(_commented, True),
        "unquoted-keys": Damage(_bare_keys, True),
        "smart-quotes": Damage(lambda data: re.sub(r'"(\w+)":', r"“\1”:", _json(data)), True),
        "full-width-digits": Damage(_full_width, True, "score"),
        "no-commas": Damage(lambda data: _json(data).replace(", ", "\n"), False),
        "cut-off": Damage(_cut_off, False),
        "cut-in-number": Damage(_cut_in_number, False, "score"),
        "doubled-keys": Damage(lambda data: _json(data)[:-1] + ", " + _json(_opposite(data))[1:], False),
        # Its keys
        "extra-field": Damage(lambda data: _json({**data, "mood": "fine", "extra": [1, 2]}), True),
        "camel-case": Damage(lambda data: _json(_keys(data, _camel)), True),
        "korean-keys": Damage(lambda data: _json(_keys(data, lambda name: _KOREAN_KEYS.get(name, name))), True),
        "missing-field": Damage(_without_one, False),
        "unknown-keys": Damage(lambda data: _json(_keys(data, lambda name: name[::-1] + "_x")), False),
        # Its values
        "score-as-text": Damage(_scores(lambda score: f"{score:g}"), True, "score"),
        "out-of-ten": Damage(_scores(lambda score: f"{score * 10:g}/10"), True, "score"),
        "percent": Damage(_scores(lambda score: f"{score * 100:g}%"), True, "score"),
        "decimal-comma": Damage(_scores(lambda score: f"{score:.6f}".replace(".", ",")), True, "score"),
        "above-one": Damage(_scores(lambda _: 1.7), False, "score"),
        "below-zero": Damage(_scores(lambda _: -1), False, "score"),
        "out-of-hundred": Damage(_scores(lambda score: round(score * 100) + 2), False, "score"),
        "nan": Damage(_scores(lambda _: float("nan")), False, "score"),
        "infinite": Damage(_scores(lambda _: float("inf")), False, "score"),
        "too-large": Damage(lambda data: _scores(lambda _: "@")(data).replace('"@"', "1e999"), False, "score"),
        "score-as-word": Damage(_scores(lambda _: "high"), False, "score"),
        "score-as-true": Damage(_scores(lambda _: True), False, "score"),
        "score-as-null": Damage(_scores(lambda _: None), False, "score"),
        "score-as-list": Damage(_scores(lambda score: [score]), False, "score"),
        "score-as-object": Damage(_scores(lambda score: {"value": score}), False, "score"),
        "uppercase-label": Damage(_labels(str.upper), True, "label"),
        "spaced-label": Damage(_labels(lambda label: f" {label.replace('_', ' ')} "), True, "label"),
        "unknown-label": Damage(_labels(lambda _: "splendid"), False, "label"),
        "label-as-list": Damage(_labels(lambda label: [label]), False, "label"),
        "wrong-types": Damage(lambda data: _json({name: [[]] for name in data}), False),
        "all-null": Damage(lambda data: _json(dict.fromkeys(data)), False),
        # Instead of it
        "empty-object": Damage(lambda _: "{}", False),
        "empty-list": Damage(lambda _: "[]", False),
        "null": Damage(lambda _: "null", False),
        "number": Damage(lambda _: "0.9", False),
        "empty": Damage(lambda _: "", False),
        "prose": Damage(lambda _: "The answer looks good to me; I would rate it highly.", False),
        "refusal": Damage(lambda _: "I'm sorry, but I can't help with that request.", False),
        "markdown-table": Damage(_table, False),
        "echoed-schema": Damage(
            lambda data: _json({"type": "object", "properties": {name: {"type": "number"} for name in data}}), False
        ),
        "deep": Damage(lambda _: '{"a":' * 5_000 + "1" + "}" * 5_000, False),
    }
)
"""Every kind of damage by name."""
