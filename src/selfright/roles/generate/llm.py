"""An answer by a language model, whose citations are checked; where it fails, the offline writer's."""

from dataclasses import dataclass, replace

from selfright.background import aside
from selfright.domain.answers import Draft, GenerationRequest, Sentence
from selfright.domain.chat import ChatReply, ChatRequest, Finish, Job, Say
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.ports import ChatModel, Generator
from selfright.domain.text import sentence_spans
from selfright.roles.generate.answer_parsing import MOST_CHARACTERS, parse_answer
from selfright.roles.generate.borne import BorneOut
from selfright.roles.generate.citation_check import CitationChecker
from selfright.roles.generate.echo import without_echo
from selfright.roles.generate.refusal_detection import is_refusal
from selfright.roles.model_calls import OUT_OF_REACH


@dataclass(frozen=True, slots=True)
class ModelGenerator:
    """Writes with a language model (port ``Generator``): one call, streamed; ``offline`` writes when that fails.

    What repeats the question, the rules or the marks of the prompt is taken out, and with ``borne_out`` what the
    evidence does not state; where nothing is left, ``offline`` writes, too.
    """

    chat: ChatModel
    offline: Generator
    checker: CitationChecker
    temperature: float = 0.3
    max_tokens: int = 1_024
    borne_out: BorneOut | None = None

    @property
    def needs_documents(self) -> bool:
        """No: it can answer from the conversation, and small talk from nothing."""
        return False

    async def generate(self, request: GenerationRequest, say: Say | None = None) -> Draft:
        """The draft. ``say`` hears the text as the model writes it, before citations are checked.

        Out of reach, out of budget, refused or empty: the offline writer's draft, which ``say`` hears after what came.
        Raises nothing of its own.
        """
        try:
            reply = await self.chat.complete(self._request(request), say)
        except (*OUT_OF_REACH, ReplyUnusable):
            return await self.offline.generate(request, say)
        draft = await aside(len(reply.text), lambda: self._draft(reply, request))
        if draft.text:
            return draft
        # Where nothing was looked up, the offline writer quotes nothing either.
        return replace(await self.offline.generate(request, say), stands_in=bool(request.strips))

    def _request(self, request: GenerationRequest) -> ChatRequest:
        return ChatRequest(
            job=Job.ANSWER,
            system=request.system_prompt,
            user=request.user_prompt,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            final=True,
        )

    def _draft(self, reply: ChatReply, request: GenerationRequest) -> Draft:
        if reply.finish is Finish.REFUSED:
            return Draft("")
        if not request.system_prompt and not request.strips:
            return _as_it_is(reply.text)
        parsed = parse_answer(reply.text, cut_off=reply.finish is Finish.LENGTH)
        if request.query_class is not QueryClass.CHITCHAT:
            parsed = without_echo(request.question, parsed, request.system_prompt)
        if self.borne_out and request.strips and parsed:
            declined = is_refusal([said.text for said in parsed])
            stated = self.borne_out.stated(request.question, parsed, request.strips, request.system_prompt)
            parsed = parsed if declined else stated
        draft = self.checker.draft(parsed, request.strips)
        return replace(draft, refused=not draft.citations and is_refusal([s.text for s in draft.sentences]))


def _as_it_is(text: str) -> Draft:
    """What a model said to the bare text of a user: there is nothing to cite, and nothing to take out."""
    said = text.strip()[:MOST_CHARACTERS]
    return Draft(said, tuple(Sentence(said[start:end]) for start, end in sentence_spans(said)))
