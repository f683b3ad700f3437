"""The roles of a turn: offline ones, made once for an index, and model-backed ones, made for each turn."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from selfright.domain.chat import Job
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.ports import (
    Abstainer,
    ChatModel,
    Classifier,
    Embedder,
    Evaluator,
    EvidenceFilter,
    Generator,
    Grader,
    PairJudge,
    Prompter,
    Refiner,
    Rewriter,
    Summarizer,
    TermStatistics,
    Tokenizer,
)
from selfright.wiring.networks import is_fitted, pair_views

if TYPE_CHECKING:
    from selfright.roles.abstain import CalibratedAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.calibration.stored import GraderCalibration
    from selfright.roles.classify import OfflineClassifier
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.evidence_filter import OfflineEvidenceFilter
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.refine import OfflineRefiner
    from selfright.roles.rewrite.offline import OfflineRewriter
    from selfright.roles.similarity import SentenceSimilarity
    from selfright.roles.summarize import OfflineSummarizer


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does which job.

    ``fallback_evaluators`` judge when the evaluator fails, in their order; ``referee`` judges locally, beside any other
    judge. ``fallback_generator`` writes from documents alone beside a model that writes; None where none does.
    """

    classifier: Classifier
    evidence_filter: EvidenceFilter
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    evaluator: Evaluator
    heuristic: Evaluator
    fallback_evaluators: tuple[Evaluator, ...]
    rewriter: Rewriter
    summarizer: Summarizer
    abstainer: Abstainer
    referee: Evaluator
    fallback_generator: Generator | None = None


@dataclass(frozen=True, slots=True)
class ChosenJudges:
    """What judging rests on beside the weights that ship: judges of pairs that the user chose, of passages and of
    claims, and the index's own calibration."""

    passages: PairJudge | None = None
    claims: PairJudge | None = None
    calibration: "GraderCalibration | None" = None


_SHIPPED = ChosenJudges()


@dataclass(frozen=True, slots=True)
class OfflineRoles(Roles):
    """Every role without a language model; ``analyzer`` is what they read text with.

    ``quick_grader`` and ``quick_refiner`` ask no network: a model that judges itself comes after them, and reading
    takes more of a core than the rest of a turn.
    """

    abstainer: "CalibratedAbstainer"
    classifier: "OfflineClassifier"
    evaluator: "LocalEvaluator"
    evidence_filter: "OfflineEvidenceFilter"
    grader: "OfflineGrader"
    refiner: "OfflineRefiner"
    rewriter: "OfflineRewriter"
    summarizer: "OfflineSummarizer"
    analyzer: "TextAnalyzer" = field(kw_only=True)
    quick_grader: "OfflineGrader" = field(kw_only=True)
    quick_refiner: "OfflineRefiner" = field(kw_only=True)


def offline_roles(
    tokenizer: Tokenizer,
    statistics: TermStatistics,
    embedder: Embedder | None,
    judging: ChosenJudges = _SHIPPED,
    cached: Embedder | None = None,
    pack: DomainPack = GENERAL,
) -> OfflineRoles:
    """Every role without a model; ``cached`` is ``embedder`` with vectors kept, for sentences of passages."""
    from selfright.roles.abstain import CalibratedAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.classify import OfflineClassifier
    from selfright.roles.evaluate.heuristic import HeuristicEvaluator
    from selfright.roles.evaluate.nli import ClaimNli
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.evidence_filter import OfflineEvidenceFilter
    from selfright.roles.generate.offline import OfflineGenerator
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.prompting import BilingualPrompter
    from selfright.roles.refine import OfflineRefiner
    from selfright.roles.rewrite.offline import OfflineRewriter
    from selfright.roles.selection import UnitScorer
    from selfright.roles.summarize import OfflineSummarizer
    from selfright.roles.trust import TrustFilter

    likeness, reader, claims = _measures(embedder, cached)
    analyzer, heuristic = TextAnalyzer(tokenizer, statistics), HeuristicEvaluator()
    grader = OfflineGrader(analyzer, likeness, None, reader, judging.calibration, judging.passages)
    by_words, scorer = UnitScorer(analyzer), UnitScorer(analyzer, reader, likeness)
    evaluator = LocalEvaluator(analyzer, ClaimNli(judging.claims, claims), reader)
    trust = TrustFilter(analyzer, OfflineGrader(analyzer, reader=reader), by_words)
    fitted = judging.calibration or judging.passages  # a calibration was made with the network
    return OfflineRoles(
        classifier=OfflineClassifier(analyzer),
        evidence_filter=OfflineEvidenceFilter(trust, pack),
        grader=grader,
        refiner=OfflineRefiner(scorer),
        prompter=BilingualPrompter(pack.hints),
        generator=OfflineGenerator(analyzer, scorer),
        evaluator=evaluator,
        heuristic=heuristic,
        fallback_evaluators=(heuristic,),
        rewriter=OfflineRewriter(analyzer, grader, pack, likeness),
        summarizer=OfflineSummarizer(),
        abstainer=CalibratedAbstainer(),
        referee=evaluator,
        analyzer=analyzer,
        quick_grader=grader if fitted else OfflineGrader(analyzer, likeness),
        quick_refiner=OfflineRefiner(by_words),
    )


def _measures(
    embedder: Embedder | None, cached: Embedder | None
) -> "tuple[SentenceSimilarity | None, PairJudge | None, PairJudge | None]":
    """What judges measure with: the likeness of meanings, and the network that ships, for questions and for claims.

    Judging was fitted on the cosines of the encoder that ships. Another embedder's tell it nothing, so there is no
    likeness then.
    """
    from selfright.roles.similarity import SentenceSimilarity

    likeness = SentenceSimilarity(embedder, cached) if embedder is not None and is_fitted(embedder) else None
    views = pair_views(embedder)
    return (likeness, views.questions, views.claims) if views else (likeness, None, None)


def with_models(
    offline: OfflineRoles, chat: ChatModel, jobs: Collection[Job], judging: Literal["cascade", "always", "never"]
) -> Roles:
    """The roles with ``chat`` doing ``jobs``; what judging costs calls is the model's only as far as ``judging`` says.

    The rolling summary is the model's only when it is asked ``always``: an extract does, and is made in every long
    conversation.
    """
    from selfright.roles.classify import ModelClassifier
    from selfright.roles.evaluate.llm import QualityEvaluator
    from selfright.roles.generate.citation_check import CitationChecker, GroundingCheck
    from selfright.roles.generate.llm import ModelGenerator
    from selfright.roles.grade.llm import ModelGrader
    from selfright.roles.refine import ModelRefiner
    from selfright.roles.rewrite.llm import QueryRewriter
    from selfright.roles.summarize import ModelSummarizer

    analyzer, changed = offline.analyzer, dict[str, Any]()
    if Job.ANSWER in jobs:
        grounding = GroundingCheck(offline.evidence_filter.trust.scorer)
        checker = CitationChecker(analyzer)
        changed["generator"] = ModelGenerator(chat, offline.generator, checker, grounding=grounding)
        changed["fallback_generator"] = offline.generator
    if judging == "never":
        return _roles(offline, changed)
    if Job.CLASSIFY in jobs:
        changed["classifier"] = ModelClassifier(chat, offline.classifier, judging)
    if Job.GRADE in jobs:
        changed["grader"] = ModelGrader(chat, offline.quick_grader, judging)
        changed["refiner"] = offline.quick_refiner
    if Job.STRIPS in jobs:
        changed["refiner"] = ModelRefiner(chat, offline.quick_refiner, judging)
    if Job.EVALUATE in jobs:
        changed["evaluator"] = QualityEvaluator(chat, offline.evaluator, analyzer, judging, offline.evaluator.answering)
        changed["fallback_evaluators"] = (offline.evaluator, offline.heuristic)
    if Job.REWRITE in jobs:
        changed["rewriter"] = QueryRewriter(chat, offline.rewriter, judging)
    if Job.SUMMARIZE in jobs and judging == "always":
        changed["summarizer"] = ModelSummarizer(chat, offline.summarizer)
    return _roles(offline, changed)


def _roles(offline: OfflineRoles, changed: Mapping[str, Any]) -> Roles:
    return Roles(**{role.name: getattr(offline, role.name) for role in fields(Roles)} | dict(changed))
