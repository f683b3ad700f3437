"""What may hang on a Korean noun, so that a chance run of syllables is not taken for a name."""

import re

LOOSE = 4  # syllables; so long a name may be spaced in any way, and anything may hang on it

_PARTICLE = (
    "들|이|가|은|는|을|를|의|에|도|만|과|와|로|으로|이나|나|이란|란|보다|처럼|까지|부터|마다|조차|밖에"
    "|한테|에게|께서|에서|에는|에도"
    "|에서는|에게서|에게는|으로는|로는|으로도|로도|으로서|로서|으로써|로써|으로부터|로부터|이랑|랑|하고"
    "|이라는|라는|이라도|라도|이라|라"
    "|이든|든|이며|며|이고|고|인데|인지|인가|일까|이면|이지만|이라서|라서|이라고|라고|입니다|이에요"
    "|예요|이예요|이다|였|이었|인|일|임|같은|같이|뿐"
    "|이셨|셨|이신|이셔|이래|래|이요|요|이세요|세요|이시|시|께|때문|대신|쪽|등|및"
)
_VERB = "하|한|할|해|했|함|합|되|된|될|돼|됐|됨|받|시키|나|났|난|있|없|생|오|올|왔|앓|걸|같|아니|아님|않|중|후|전|시|때"
_NOUN = (
    "환자|증상|증세|증|병력|과거력|가족력|이력|기운|기|진단|의심|소견|수치|치료|검사|관리|초기|말기"
    "|단계|전단계|위험|발작|보균|합병증|약물"
    "|흡입기|흡입제|시럽|정|캡슐|주사|연고|크림|패치|안약|점안액|로션|알레르기|알러지|부작용|쇼크|반응|감염|성"
)
_STRICT = re.compile(rf"(?:(?:{_NOUN})?(?:{_PARTICLE})?(?:{_PARTICLE})?(?:(?:{_VERB})[가-힣]*)?)")
_OPENED = re.compile("(?:이|가|은|는|을|를|도|의|에|와|과|로|만|라|랑)[가-힣]*")  # enough behind three syllables
_SINGLE = re.compile("이|가|은|는|을|를|도|에|과|와|의|랑|이랑|으로|이고|이나|입니다|이에요|이라|인데")
_REST = re.compile("[가-힣]*")
_MADE_FOR = ("약", "치료제", "백신", "예방", "억제제", "환자용", "내과", "센터")  # 두통약 is a medicine, no headache
_ALONE = frozenset({"암"})  # of one syllable, and still a word of its own


def may_follow(form: str, kind: str, text: str, end: int, length: int) -> bool:
    """Whether what follows ``form`` in ``text`` at ``end`` lets it be a word; ``length``: its syllables."""
    if not "가" <= form[-1] <= "힣":
        return end == len(text) or not (text[end].isascii() and text[end].isalnum())
    found = _REST.match(text, end)
    rest = found.group() if found else ""
    if not rest:
        return length > 1 or form in _ALONE or kind in ("allergen", "term")
    if kind in ("condition", "symptom") and rest.startswith(_MADE_FOR):
        return False
    if length == 1:
        return _SINGLE.fullmatch(rest) is not None
    if length >= LOOSE or (length == LOOSE - 1 and _OPENED.fullmatch(rest)):
        return True
    return _STRICT.fullmatch(rest) is not None
