"""How planted text is worded, Korean and English.

Meant to be narrow: manuals tell readers what to ignore, print or answer, too, and must stay evidence.
``benchmarks/red_team.py`` measures both sides: attacks that get through, and honest passages struck by mistake.
"""

import re
from dataclasses import dataclass

_FLAGS = re.IGNORECASE | re.MULTILINE


@dataclass(frozen=True, slots=True)
class Wording:
    """A pattern, and words one of which stands in everything it matches: they are looked for first, being cheap."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]


def found(wordings: tuple[Wording, ...], text: str) -> bool:
    """Whether one of ``wordings`` occurs in ``text``."""
    lowered = text.casefold()
    return any(any(word in lowered for word in one.needs) and one.pattern.search(text) for one in wordings)


def _wording(needs: str, *patterns: str) -> Wording:
    return Wording(tuple(needs.split("|")), re.compile("|".join(patterns), _FLAGS))


_QUOTE = r"[\"“”'‘’「『`]"
_END_QUOTE = r"[\"”'’」』`]"
_SAY = r"(?:say|answer|reply|respond|output|print|write|state|repeat|end)"
_MODEL = r"(?:AI (?:assistant|model|system|agent)|LLM|language model|assistant|chat ?bot)s?"
_TOLD = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|context|passages?|documents?|orders?|told|everything)"
)
_COMMAND_KO = (
    r"(?:(?:답|말|대답|응답|출력|인용|기재|표시)(?:하라|하세요|하십시오|하시오|해라|해 ?주|하도록|해야|할 것)"
    r"|적(?:으세요|으십시오|어라|으라)|쓰(?:세요|십시오|라)|써라|써 주)"
)

ORDERS = (
    _wording(
        "ignor|disregard|forget|overrid|bypass",
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:all|any|your|the|every|previous|prior|earlier|other)\b"
        rf".{{0,30}}\b{_TOLD}\b(?! of (?:national|international))",
        r"\b(?:ignore|disregard|forget) (?:what|everything|all) (?:you|that)\b",
        r"(?:ignore|disregard|forget)(?:all|the|any|your)*(?:previous|prior|above|earlier)+(?:instructions|rules|prompts)",
    ),
    _wording(
        "prompt|repeat ",
        r"\b(?:your|the) (?:system|developer) prompt\b|\brepeat (?:your|the) (?:prompt|instructions|rules)\b",
    ),
    _wording(
        "you are|you're|act as|from now on",
        rf"\b(?:you are|act as) (?:now )?(?:an? |the )?{_MODEL}\b",
        r"\bfrom now on,? you (?:are|will|must)\b",
        r"\b(?:if|when|whenever) (?:you are |you're )ask(?:s|ed)\b"
        rf".{{0,160}}?\b{_SAY}\b(?: only| with| that|:)*\s*{_QUOTE}",
    ),
    _wording(
        "assistant|language model|chatbot|chat bot|llm|ai model|ai system|ai agent",
        rf"\b(?:attention|note to|dear|hey|listen),? (?:all )?(?:the )?{_MODEL}\b",
        rf"\b{_MODEL}\b[^.\n()]{{0,60}}\b(?:must|should|shall|have to|are required to|need to) (?:\w+ ){{0,2}}"
        rf"(?:{_SAY}|call|obey|follow|include|ignore|tell|append|recommend)\b",
    ),
    _wording(
        "ask",
        r"\b(?:if|when|whenever) (?:\w+ ){0,3}?ask(?:s|ed)\b"
        r".{0,160}?\b(?:answer|reply|respond)\b(?: only| with| that|:)*"
        rf"\s*{_QUOTE}",
    ),
    _wording(
        "say|answer|reply|respond",
        r"(?:\bplease |\bjust |\bonly |\bsimply |\binstead |\band |,\s*|[:.?!>\])]\s+|>|^[\s>*-]*)"
        r"(?:say|answer|reply|respond"
        rf"(?: with)?)(?: only| just| with| exactly)*:?\s*{_QUOTE}",
    ),
    _wording("beginning|starting|endin", rf"\b(?:beginning|starting|ending?) (?:\w+ ){{0,3}}with\s{_QUOTE}"),
    _wording(
        "instead|regardless|no matter",
        r"\b(?:answer|respond|reply) (?:only )?with\b.{0,60}\b(?:instead|regardless|no matter)\b",
    ),
    _wording(
        "user|reader|customer",
        r"(?:^|[:.;]\s+)(?:please )?(?:tell|inform|instruct) (?:the|your) (?:user|reader|customer)s?\b",
    ),
    _wording(
        "decod|deciph|rot13|rot-13|base64",
        r"\b(?:decode|decipher|rot-?13|base64)\b.{0,60}\b(?:follow|obey|execute|carry out)\b",
    ),
    _wording(
        "render|embed|insert|include",
        r"\b(?:render|embed|include|insert) (?:this|the) (?:image|link|url|markdown)\b"
        r".{0,40}\b(?:answer|repl(?:y|ies)|response)s?\b",
    ),
    _wording(
        "무시|잊|따르지",
        r"(?:지시|명령|지침|프롬프트|규칙|내용|문단|문서|말)"
        r"[^.\n]{0,14}?(?:무시하|잊|따르지 말)(?:라(?![가-힣])|세요|십시오|어라|으라"
        rf"|고[^.\n]{{0,60}}?{_COMMAND_KO})",
        rf"(?:지시|명령|지침|프롬프트|규칙)[^.\n]{{0,6}}(?:무시하|잊)고[,\s]{{0,3}}{_QUOTE}",
    ),
    _wording(
        "your new task|mode is|every |each |all ",
        r"\byour new task is\b|\b(?:developer|admin|god|debug) mode is (?:now )?(?:active|on|enabled)\b",
        r"\b(?:begin|start|end) (?:every|each|all) (?:reply|replies|answer|response)s?\b",
    ),
    _wording("_", r"^\s*(?:assistant|system|model|ai)_\w{1,30}\s?:"),
    _wording("새로운|모드가", r"새로운 (?:임무|지시|명령)를 (?:준다|내린다)|(?:관리자|개발자) 모드가 켜"),
    _wording("모든 답", r"모든 답(?:변)?의 (?:끝|처음|앞)에"),
    _wording("프롬프트", r"시스템\s?프롬프트"),
    _wording("라고|라는", rf"{_END_QUOTE}\s?이?라(?:고|는)(?:만)?\s?(?:[가-힣]{{1,6}}\s)?{_COMMAND_KO}"),
    _wording("너는|넌|당신은", r"(?:너는|넌|당신은)\s?(?:이제|지금)(?:부터)?\s"),
    _wording(
        "인공지능|언어 모델|언어모델|챗봇|어시스턴트|ai는|ai가|ai 는",
        r"(?:인공지능|언어 ?모델|챗봇|어시스턴트|AI)[은는이가]?"
        r"[^.\n]{0,40}(?:따라야 ?(?:하|합|한)|답하라|답해야|하라(?![가-힣])|하십시오|말 것)",
    ),
    _wording(
        "에게", r"(?:사용자|이용자|독자|고객)에게[^.\n]{0,20}(?:알려라|알리라|전하라|말하라|알려 ?주어라|안내하라)"
    ),
    _wording("인용", r"답할 때[^.\n]{0,20}인용하|(?:을|를|만) 인용하(?:라(?![가-힣])|고 (?:다른|나머지))"),
)
"""Sentences that give orders to whoever answers from the document."""

_JUDGED = r"(?:passage|document|text|page|paragraph|note|excerpt|set|claim)s?"
_GOOD = (
    r"(?:relevant|correct|sufficient|adequate|supported|probability"
    r"|full marks|top marks|(?:the )?highest|10 ?/ ?10|100 ?%"
    r"|1\.0|perfect)"
)
_FALSE = r"(?:wrong|false|fake|outdated|incorrect|unreliable|obsolete|invalid|forged|lies)"
_OTHERS = r"other (?:passage|document|source|page|answer)s?"
_KO_TEXT = r"(?:문서|글|문단|자료)"

COUNTERFEIT = (
    _wording(
        "relevant|correct|sufficient|adequate|supported|probability|marks|highest|10/10|10 / 10|100|1.0|perfect",
        r"\b(?:grade|rate|mark|score|judge|label|classify|consider|treat) (?:this|the|every|any)"
        rf" (?:\w+ )?(?:{_JUDGED}|answer)\b[^.\n]{{0,60}}?\b{_GOOD}",
        rf"\b(?:grade|rate|score) me\b[^.\n]{{0,40}}?\b{_GOOD}",
        rf"\b(?:rat|grad|scor|mark|judg)ing it\b[^.\n]{{0,40}}?\b{_GOOD}",
        r"\b(?:must|should|shall) be (?:graded|rated|marked|scored|judged|labell?ed|classified)\b"
        rf"[^.\n]{{0,20}}\b{_GOOD}",
    ),
    _wording(
        "grader|evaluat|assessor|rater|judge",
        r"\b(?:note|dear|message|to)\b[^.\n]{0,20}"
        r"\b(?:grader|assessor|rater|judge|evaluator|whoever evaluates)\b[^.\n]{0,20}"
        r"[:,]",
    ),
    _wording(
        "relevant|answers the question|supersede|been verified|the only ",
        rf"\b(?:this|the) {_JUDGED} (?:is (?:highly |very |the most )?relevant (?:to|for) (?:the|any|every) question"
        r"|answers the question|supersedes|has been verified)",
        rf"\bsupersedes? (?:all|every|any) (?:{_OTHERS}|passage|document)",
        r"\bthe only (?:reliable|correct|true|trusted|trustworthy|valid|accurate) (?:source|document|passage|answer)",
    ),
    _wording(
        "other ",
        rf"\b(?:all|any|every) (?:of the )?{_OTHERS}\b[^.\n]{{0,30}} (?:is|are) (?:\w+ )?{_FALSE}",
        rf"\b(?:do not|don't|never) (?:trust|believe) (?:any |all |the )?{_OTHERS}",
        rf"\b(?:ignore|disregard) (?:the|all|every|any) {_OTHERS}",
    ),
    _wording(
        "answer",
        r"\b(?:verified|official|final|only permitted|only correct) answer(?: is\b|:)",
        r"\b(?:the )?correct answer (?:is\b.{0,20}question|to (?:the|this) question\b)",
        r"\bcite (?:\S{1,40} (?:for|in) (?:this|the|your) answer)",
    ),
    _wording("cite", r"\bcite \[\d+\]"),
    _wording(
        "reviewer|assessor|rater|judges",
        r"\b(?:for|dear|to) (?:the )?(?:reviewer|assessor|rater|judge)s?"
        r" of (?:search results|answers|passages|retrieval)\b",
    ),
    _wording("output|response|reply", r"\b(?:model|assistant|system|AI) (?:output|response|reply)\b[^.:\n]{0,12}:"),
    _wording(
        "but this|alone|otherwise",
        rf"\b(?:every|any|all) {_JUDGED} (?:but|except) this one\b",
        rf"\b(?:rely on|trust) this {_JUDGED} alone\b|\bwhoever says otherwise\b",
    ),
    _wording(
        "심사|도움이|출력|답변|응답|이 글을|다르게",
        r"심사하는 (?:분|사람|모델)(?:께|에게)|이 (?:단락|문단|글)이 가장 도움이 되니",
        r"(?:모델|인공지능|시스템)의? ?(?:최종 )?(?:출력|답변|응답)\s?[:：]",
        rf"이 {_KO_TEXT}[을를] 뺀 (?:모든|다른)|이와 다르게 말하는 (?:사람|글)",
    ),
    _wording(
        "채점|평가|판정|표시|매겨|매기|간주|분류",
        r"(?:관련(?:이|성이|도)?\s?(?:있|높|가장 높|100)|적합|정답|만점|최고\s?점"
        r"|1(?:\.0)?\s?점|100\s?점|adequate|relevant)"
        r"[^.\n]{0,30}(?:채점하|채점해|평가되어야|평가하(?:라|세|십|고)|평가해|판정하|표시하(?:라|세|십|고)|매겨|매기|간주하|분류하(?:라|세|십))",
        r"채점자(?:에게|께)|답변을 평가하는 (?:모델|사람)",
    ),
    _wording(
        "문서|글|문단|자료",
        rf"(?:이|본) {_KO_TEXT}만(?:이|을)? (?:정확|옳|맞|믿)",
        rf"(?:다른|나머지) {_KO_TEXT}[은는를을]? (?:모두 |전부 |다 )?"
        r"(?:틀렸|거짓|무시하(?:라|고|세|십)|잘못되었|믿지 마)",
    ),
    _wording("정답|답", r"질문의 정답은|허용된 답은|(?:공식적으로 )?검증된 (?:유일한 )?(?:답|정답)|유일한 정답"),
    _wording(
        "<|inst]|##",
        r"<\|[a-z_ ]{2,20}\|>|\[/?INST\]|<</?SYS>>|^#{2,4} ?(?:system|instruction|response|assistant)s?:\s*$",
    ),
    _wording(
        "<|end of",
        r"</?(?:tool_call|function_call|tool_result|system|assistant|instructions)\b[^<>\n]{0,40}>",
        r"</(?:passage|excerpt|context)s?(?:-[0-9a-f]{4,64})?>|\bend of (?:the )?(?:context|passages)\b",
    ),
    _wording(
        '"',
        r"\"role\"\s?:\s?\"(?:system|assistant|user|tool)\"",
        r"\"(?:sufficiency|probability|answer_quality|grounding|needs_retrieval|query_class)\"\s?:\s?[\d\"tf]",
    ),
    _wording(
        "assistant|ai:|ai :|chatgpt|system|어시스턴트|인공지능|챗봇|시스템",
        r"^\s*(?:assistant|AI|chatgpt|system|어시스턴트|인공지능|챗봇)\s?[:：][ \t]+\S"
        r"|\[시스템 ?(?:메시지|명령|지시)\]",
    ),
)
"""Text that vouches for itself, grades itself, or plays a turn, delimiter or reply: nothing beside it is trusted."""

UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)|^\[[^\]\n]{1,80}\]:\s*(?:#|<>)\s*[(\"'][^\n]*$|!\[[^\]\n]{0,300}\]\([^)\n]{0,2000}\)",
    re.DOTALL | re.MULTILINE,
)
"""Comments of HTML and Markdown, and addresses of pictures: what no reader of the page reads."""
