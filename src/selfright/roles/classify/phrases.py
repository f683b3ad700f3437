"""Set phrases that tell what kind of message it is, Korean and English."""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


SUMMARY = _any(
    r"\bsummari[sz](?:e|ing|ation)\b",
    r"\b(?:give|write|make|provide|show|need|want)\b.{0,25}\b(?:summary|overview|recap|gist|synopsis|tl;?dr)\b",
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(?:sum up|recap|condense|outline|tl;?dr)\b",
    r"^\W*(?:a\s+)?(?:short\s+|brief\s+|quick\s+)?(?:summary|overview|recap) (?:of|on|about)\b",
    r"요약(?:해|을|본|하|좀|부탁|$|\s)",
    r"(?:간추려|간단히 정리|간략히 정리|핵심만|한 ?줄로|세 ?줄로|\d ?줄로)",
    r"정리\s?(?:해\s?(?:줘|주|줄|봐|달)|하여 주|좀|부탁)",
)

# What may stand before the real message, or be all of it.
SALUTATION = re.compile(
    r"^\W*(?:(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day|night)|dear (?:sir|madam"
    r"|all|team)"
    r"|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|ty|ok(?:ay)?|great|cool|nice|bye(?: bye)?|goodbye"
    r"|see you(?: later)?"
    r"|안녕(?:하세요|하십니까|하신가요|히 계세요|히 가세요)?|반가워요?|반갑습니다|여보세요|하이|헬로"
    r"|감사(?:합니다|해요|드려요|드립니다)?"
    r"|고마워요?|고맙습니다|수고(?:하세요|하셨습니다|했어요?)?|잘 ?가요?|잘 ?있어요?|바이(?:바이)?|좋은 (?:아침"
    r"|하루|저녁|밤)(?:이에요|입니다)?"
    r"|처음 뵙겠습니다|정말|너무|매우)(?: there| all| everyone| again| friend)?)(?![가-힣\w'’-])[\s,.!~^ㅋㅎ♡:)]*",
    re.IGNORECASE,
)

CHITCHAT = _any(
    r"\b(?:who|what) (?:are|r) (?:you|u)(?: (?:really|anyway|exactly))?\W*$",
    r"\bwhat(?:'s| is| do you) (?:your|ur|go by|call yourself)\s*(?:name|hobb(?:y|ies)|called)?\W*$",
    r"\b(?:what(?:'s| is) your (?:name|age|job|hobby)|your (?:name|hobbies|birthday))\b",
    r"\bhow (?:are|r) (?:you|u|things|ya)(?: (?:doing|feeling|today|now|going))*\W*$|\bhow(?:'s| is) it going\b"
    r"|\bwhat'?s up\b|\bhow old are you\b|\bhow do you do\W*$",
    r"\bare you (?:a |an )?(?:ro)?(?:bot|human|ai|real|robot|computer|machine|person|alive)\b",
    r"\b(?:tell|know|say|hear|got) (?:me |us )?(?:a |any |some |another |one )?(?:good |funny )?(?:jokes?"
    r"|fun facts?)\b",
    r"\bmake me laugh\b|\b(?:who|what company) (?:made|created|built|programmed|designed|owns) you\b"
    r"|\bwho (?:do you work for|is your (?:boss|maker))\b",
    r"\bwhere (?:are|r) you from\b|\bdo you have (?:any )?(?:pets?|hobbies|feelings|friends)\b|\bmeaning of life\b",
    r"\bwhat can (?:you|i) (?:do|ask(?: you)?|help)\b|\bnice to meet you\b|\b(?:i )?love you\b|\bsee (?:you|ya)\b"
    r"|\btalk to you later\b",
    r"\bhave a (?:nice|good|great) (?:day|night|one|evening|weekend)\b",
    r"^\W*(?:lol|haha+|hehe+|wow|yay)\W*$",
    # Anchored: the same endings close real questions ("… 패키지 이름이 뭐야?", "… 부족할 수 있나요?").
    r"^\W*(?:근데 |그런데 )?(?:너|넌|네|니|당신|자기)(?:는|의|은)?\s?"
    r"(?:누구|이름|나이|몇 ?살|취미|로봇|사람이|인공지능|봇)",
    r"^\W*이름이? 뭐(?:야|예요|니|에요)\W*$|^\W*넌 뭐야|^\W*(?:지금 )?뭐 ?해\W*$|^\W*(?:지금 )?뭐 ?하(?:니|고 있어)\W*$"
    r"|^\W*(?:잘 ?지내|밥 먹었|심심해)"
    r"|사랑해\W*$|보고 ?싶어\W*$|재밌는 (?:얘기|이야기|농담)|농담 (?:하나|해)",
    r"^\W*(?:너는? |넌 )?(?:뭘|무엇을|뭐) ?(?:할|도와줄) 수 있|^\W*어떤 것을 도와|^\W*만나서 반(?:가|갑)",
    r"^\W*(?:ㅋ+|ㅎ+|ㅠ+|ㅜ+|ㅇㅋ|ㄱㅅ|ㅎㅇ|ㅂㅂ|ㄴㄴ|ㅇㅇ)[\s\W]*$",
)

FOLLOW_UP = _any(
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(?:tell me more|more details?|explain (?:more|further|again|that"
    r"|it)|elaborate|go on|continue"
    r"|what else|anything else|what about|how about|and (?:what|how|why|for|in)|why|how so|really|such as"
    r"|for example|like what|so)\b",
    r"^\W*(?:좀 ?)?(?:더|다시|자세히|자세하게|구체적으로|쉽게|계속|이어서|왜|예를 들(?:면|어)|그럼|그러면|그리고"
    r"|또|그건|그게|이건|그거|그 외|다른 건)(?:[\s?.,!]|$)",
)

CONTROL = _any(
    r"^\W*(?:yes|no|yep|yeah|nope|nah|maybe|stop|cancel|quit|exit|repeat(?: that)?|again|ok(?:ay)?|sure|correct"
    r"|wrong|right|true|false"
    r"|never ?mind|be quiet|shut up|pause|resume|help)\W*$",
    r"^\W*(?:네|예|응|어|아니(?:요|오)?|그래(?:요)?|맞아(?:요)?|틀렸어(?:요)?|취소|중지|그만|다시|도움말"
    r"|알겠(?:어요?|습니다)|글쎄(?:요)?)\W*$",
)

ASKS = _any(
    r"\?|？",
    r"\b(?:what|which|who|whom|whose|where|when|why|how)\b",
    r"^\W*(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may|must|am)\b",
    r"\b(?:tell me|explain|describe|define|compare|find|list|show me|look up|search|information (?:on|about)"
    r"|difference between"
    r"|i (?:want|need|would like|'d like) to know|wondering|looking for|advice|recommend)\b",
    r"무엇|무슨|뭐(?:가|야|예|에|지|니|를|임|죠|인)|뭘|뭔|어떤|어떻|어느|언제|어디|누구|누가|얼마|(?<![가-힣])몇"
    r"|(?<![가-힣])왜(?![가-힣])",
    r"알려|가르쳐|설명|찾아|비교|추천해|보여\s?줘|알고 ?싶|궁금|차이|방법|이유|원인|종류|뜻(?:이|은|을|$)|의미"
    r"|효과|기준|절차",
    r"(?:나요|습니까|ㅂ니까|합니까|됩니까|인가요?|일까요?|을까요?|할까요?|될까요?|건가요?|는지|은지|되요|돼요"
    r"|되나|하나|돼|되니|있니|있어)\s*[?？.!~]*\s*$",
    r"[가-힣](?:은|는)\s*[?？]\s*$",
)
# Signs that a message seeks information, strong enough to overrule a model that finds it chatty.
SEEKS = _any(
    r"\b(?:tell me about|explain|describe|define|compare|list|difference between|information (?:on|about)"
    r"|symptoms?|causes? of"
    r"|effects?|interested to know|pronounced?)\b",
    r"^\W*(?:what|which)(?:'?s| is| are| was| were| does| do| did| happens?) (?!(?:you|your|the (?:meaning|point"
    r"|purpose|answer)"
    r"|up|new|wrong|life|going|it)\b)\w+",
    r"\bhow (?:do|does|did|can|should|to|would) (?!(?:you (?:feel|like|do|call)|i call)\b)\w+",
    r"알려|가르쳐|설명해|찾아\s?줘|비교해|차이|방법|이유|원인|종류|절차|효과|기준|무엇|무슨|어떤|얼마나|언제부터"
    r"|어디서",
    r"(?:이|가|란|은|는)\s?뭐(?:야|예요|에요|지|죠)|려면\s",
    r"(?:는가|은가|인가|던가|[였됐했졌었았]나|입니까|습니까)\s*[?？]?\s*$|[가-힣](?:은|는)\s*[?？]\s*$",
    r"(?<![가-힣])몇 ?(?:년|명|개|도|퍼센트|번째)",
    r"\d|[A-Za-z]{2,}.*[가-힣]|[가-힣].*[A-Za-z]{2,}",
)
THANKS = _any(r"\bthank(?:s|ful)?\b|\bmuch obliged\b|\bappreciate\b|고마|고맙|감사")
