"""What is found: retrieve → grade → web_search, and rewrite → retrieve for another pass.

The web replaces the index if the verdict is incorrect, and adds to it if ambiguous or unknown.
"""

import asyncio
import logging
import math
from dataclasses import replace
from typing import Any

from selfright.domain.answers import RewriteRequest
from selfright.domain.errors import RECOVERABLE_ERRORS, JudgeFailed, SelfrightError
from selfright.domain.events import VerdictReached
from selfright.domain.flags import Flags
from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import FilteredHits, Hit, Retrieval, WebFinding
from selfright.domain.ports import Router
from selfright.domain.routing import RoutingDecision, RoutingReason
from selfright.domain.slots import Profile
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.evidence import as_hits, prefer_language, refine_hits
from selfright.flow.guards import text_hashes
from selfright.flow.routes import web_replaces_index
from selfright.flow.state import AgentState, texts_in

log = logging.getLogger(__name__)

_DEEPER = 12  # times as many hits as a turn reads
_SUFFICES = 0.33  # sufficiency: of eleven questions asked by hand, pages that answer have 0.40 and more, others 0.24


async def grade_hits(state: AgentState, tools: Tools, found: FilteredHits) -> tuple[Grading, tuple[str, ...]]:
    """The grading by the flags' thresholds, no higher than trust allows, and a note if the grader failed."""
    question, withheld = state["question"], tuple(Grade(name, 0.0, why) for name, why in found.reasons.items())
    if not found.names_subject:
        grades = (*(Grade(hit.passage.id, 0.0) for hit in found.hits), *withheld)
        return Grading(Verdict.INCORRECT, 0.0, grades, "nothing that was found names what is asked about"), ()
    try:
        own = _check_numbers(await tools.grader.grade(question, found.hits))
        grading = replace(own, grades=(*own.grades, *withheld))
        grading = apply_thresholds(grading, tools.flags)
        return await tools.evidence_filter.cap_verdict(question, found, grading), ()
    except RECOVERABLE_ERRORS as error:
        log.warning("the grader failed: %s", type(error).__name__)
        note = texts_in(state["language"])["notes"]["grader_failed"].format(why=type(error).__name__)
        return Grading(Verdict.UNKNOWN, None, reason=note), (note,)


def apply_thresholds(grading: Grading, flags: Flags) -> Grading:
    """The grading with the verdict by the flags' thresholds. Without passages it stays incorrect."""
    if grading.sufficiency is None or grading.verdict is Verdict.UNKNOWN or not grading.grades:
        return grading
    return replace(grading, verdict=_verdict(grading.verdict, grading.sufficiency, flags))


def _verdict(own: Verdict, sufficiency: float, flags: Flags) -> Verdict:
    upper, lower = flags.correct_threshold, flags.incorrect_threshold
    if upper and sufficiency >= upper:
        return Verdict.CORRECT
    if sufficiency < lower:
        return Verdict.INCORRECT
    # On a side with a threshold, the grader's own verdict does not count.
    overruled = (own is Verdict.CORRECT and upper > 0) or (own is Verdict.INCORRECT and lower > 0)
    return Verdict.AMBIGUOUS if overruled else own


def _check_numbers(grading: Grading) -> Grading:
    given = [grading.sufficiency, *(grade.probability for grade in grading.grades)]
    if any(p is not None and not (math.isfinite(p) and 0 <= p <= 1) for p in given):
        raise JudgeFailed("a probability from 0 to 1 was expected of the grader, and something else came")
    return grading


async def retrieve(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches all collections or the chosen ones, and clears the evidence of the previous pass.

    For an answer in another language than the question's, passages in it replace the hits if they suffice.
    """
    found, routing = await _search_index(state, tools)
    asked: dict[str, Any] = {}
    if state.get("meanings"):
        found, asked = await _of_meanings(found, state, tools)
    hits = await _in_language(state, tools)
    hits = hits or prefer_language(found.hits, state["language"], tools.flags.top_k)
    return {
        **asked,
        "meanings": (),
        **({"routing": routing} if routing else {}),
        "retrieved_docs": hits,
        "evidence": hits,
        "query_vector": found.query_vector,
        "waiting": found.waiting,
        "lacks_meaning": found.lacks_meaning or state.get("lacks_meaning", False),
        "retrieved_docs_history": (text_hashes(hit.passage.text for hit in hits),),
        "used_retrieval": True,
        "grading": None,
        "verdict": None,
        "strips": None,
        "web_docs": (),
        "web_evidence": (),
        "web_grading": None,
        "web_strips": (),
    }


async def _in_language(state: AgentState, tools: Tools) -> tuple[Hit, ...]:
    """Hits in the answer's language, where that is not the question's and they suffice; else none.

    They are far behind the question's own, so the search goes deeper.
    """
    language, most = state["language"], tools.flags.top_k
    if language_of(state["question"]) == language or state["iteration_count"]:
        return ()
    found = await tools.retriever.search(state["query_for_retrieval"], _DEEPER * most)
    hits = tuple(hit for hit in found.hits if hit.passage.language == language)[:most]
    grading, _ = await grade_hits(state, tools, await tools.evidence_filter.hits(state["question"], hits))
    return hits if (grading.sufficiency or 0.0) >= _SUFFICES else ()


async def _of_meanings(found: Retrieval, state: AgentState, tools: Tools) -> tuple[Retrieval, dict[str, Any]]:
    """What is found for a follow-up, and its question, in the meaning that the index answers best."""
    k = tools.flags.top_k
    if await tools.rewriter.settles(state["original_question"], state["question"], found.hits[:k]):
        return found, {}
    others = {meaning: await tools.retriever.search(meaning, 2 * k) for meaning in state["meanings"]}
    retrievals = {state["question"]: found, **others}
    hits = {meaning: one.hits[:k] for meaning, one in retrievals.items()}
    question = await tools.rewriter.likeliest(state["original_question"], hits)
    if question == state["question"]:
        return found, {}
    chosen = retrievals.get(question) or await tools.retriever.search(question, 2 * k)
    return chosen, {"question": question, "query_for_retrieval": question}


async def _search_index(state: AgentState, tools: Tools) -> tuple[Retrieval, RoutingDecision | None]:
    query, k, given = state["query_for_retrieval"], 2 * tools.flags.top_k, tools.retriever.scope.collections
    if given is not None:
        return await tools.retriever.search(query, k), RoutingDecision(given, RoutingReason.NAMED_BY_USER)
    router = tools.router if tools.flags.dynamic_rag_routing else None
    if router is None:
        return await tools.retriever.search(query, k), None
    routing = await _route(state, router)
    found = await tools.retriever.search(query, k, routing.collections)
    if routing.collections and not await _suffices(router, query, found):
        found = await tools.retriever.search(query, k)
        routing = RoutingDecision.everywhere(RoutingReason.TOO_LITTLE, routing.names)
    return found, routing


async def _route(state: AgentState, router: Router) -> RoutingDecision:
    """The router's choice for the first pass; later passes search all collections."""
    if "routing" in state:
        return RoutingDecision.everywhere(RoutingReason.SEARCHED_BEFORE)
    try:
        return await router.route(state["question"], state.get("query_class"), state.get("slot_out", ()))
    except RECOVERABLE_ERRORS as error:
        log.warning("the router failed (%s): all collections are searched", type(error).__name__)
        return RoutingDecision.everywhere(RoutingReason.ROUTER_FAILED, type(error).__name__)


async def _suffices(router: Router, query: str, found: Retrieval) -> bool:
    try:
        return await asyncio.to_thread(router.suffices, query, found.hits)
    except RECOVERABLE_ERRORS as error:
        log.warning("the router failed (%s): all collections are searched", type(error).__name__)
        return False


async def grade(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Leaves out what may not be evidence, and judges the rest by the original question, not by a rewritten one."""
    found = await tools.evidence_filter.hits(state["question"], state["retrieved_docs"])
    grading, notes = await grade_hits(state, tools, found)
    ask_web = tools.web is not None and tools.flags.web_search_enabled
    if not ask_web and grading.verdict is Verdict.INCORRECT:
        notes = (*notes, texts_in(state["language"])["notes"]["no_web"])
    if tools.emit is not None:
        tools.emit(VerdictReached(grading.verdict, grading.sufficiency))
    return {
        "evidence": found.hits,
        "grading": grading,
        "verdict": grading.verdict,
        "ask_web": ask_web,
        "notes": notes,
    }


PAGES = 5


async def web_search(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches the web and grades the results; also refines them if the index is refined in parallel."""
    evaluation = state.get("evaluation")
    missing = evaluation.missing_info if evaluation else ()
    finding, notes = await _search(state, tools, missing)
    tools.meter.web_requests += finding.requests
    hits = as_hits(finding.passages)
    if not hits:
        return {
            "web_docs": (),
            "web_evidence": (),
            "web_grading": None,
            "web_provider": finding.provider,
            "notes": notes,
        }
    found = await tools.evidence_filter.hits(state["question"], hits)
    grading, trouble = await grade_hits(state, tools, found)
    update: dict[str, Any] = {
        "web_docs": hits,
        "web_evidence": found.hits,
        "web_grading": grading,
        "web_provider": finding.provider,
        "notes": (*notes, *trouble),
    }
    if not web_replaces_index(state):
        refinement, unrefined = await refine_hits(tools, state["question"], found.hits, grading, state["language"])
        update["web_strips"] = () if refinement.fell_back else refinement.strips
        update["notes"] += unrefined
    return update


async def _search(state: AgentState, tools: Tools, missing: tuple[str, ...]) -> tuple[WebFinding, tuple[str, ...]]:
    nothing = WebFinding((), "none", 0)
    if tools.web is None:
        return nothing, ()
    try:
        query = await tools.rewriter.for_web(state["question"], missing)
        return await tools.web.search(query, PAGES), ()
    except RECOVERABLE_ERRORS as error:
        # A failing provider does not end the turn.
        log.warning("the web search failed: %s", type(error).__name__)
        why = str(error) if isinstance(error, SelfrightError) else type(error).__name__
        requests = getattr(error, "requests", 0)
        note = texts_in(state["language"])["notes"]["web_failed"].format(why=why)
        return WebFinding((), "none", requests), (note,)


ANSWER_CHARACTERS = 200


async def rewrite(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Writes a new query from what was missing; answers are still judged by the original question."""
    if not tools.flags.query_rewrite_enabled:
        return {}
    evaluation = state.get("evaluation")
    query = await tools.rewriter.rewrite(
        RewriteRequest(
            question=state["question"],
            query=state["query_for_retrieval"],
            language=state["language"],
            previous_answer=state.get("answer", "")[:ANSWER_CHARACTERS],
            missing_info=evaluation.missing_info if evaluation else (),
            improvement_suggestions=evaluation.improvement_suggestions if evaluation else (),
            profile_summary=_profile(state, tools),
            slots=state.get("slot_out", ()),
            hits=state.get("retrieved_docs", ()),
            iteration=state["iteration_count"],
            tried=tuple(done.query for done in state.get("iterations", ())),
        )
    )
    return {"query_for_retrieval": query.strip() or state["question"]}


def _profile(state: AgentState, tools: Tools) -> str:
    """The profile, if it concerns the question; other queries should not contain it."""
    said_now = state.get("given_profile", Profile()).slots or state.get("slot_out", ())
    return state.get("profile_summary", "") if said_now or tools.pack.about(state["question"]) else ""
