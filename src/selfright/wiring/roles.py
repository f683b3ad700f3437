"""Who does which job in a turn."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from selfright.domain.chat import Job
from selfright.domain.ports import (
    Abstainer,
    ChatModel,
    Classifier,
    Embedder,
    Evaluator,
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
from selfright.wiring.encoders import is_fitted, pair_views

if TYPE_CHECKING:
    from selfright.roles.abstain import CalibratedAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.calibration.stored import ClaimCalibration, GraderCalibration
    from selfright.roles.classify import OfflineClassifier
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.refine import OfflineRefiner
    from selfright.roles.rewrite.rewriters import OfflineRewriter
    from selfright.roles.similarity import SentenceSimilarity
    from selfright.roles.summarize import OfflineSummarizer
    from selfright.roles.trust import TrustedFirst


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does which job; ``stand_in`` judges when the evaluator fails, ``first`` lets trusted texts go first.

    ``referee`` judges locally, beside any other judge. ``floor``: who writes from documents alone beside a model that
    writes; None where none does.
    """

    classifier: Classifier
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    evaluator: Evaluator
    heuristic: Evaluator
    stand_in: Evaluator
    rewriter: Rewriter
    summarizer: Summarizer
    abstainer: Abstainer
    first: "TrustedFirst"
    referee: Evaluator
    floor: Generator | None = None


@dataclass(frozen=True, slots=True)
class ChosenJudges:
    """What judging rests on beside the weights that ship: judges of pairs that the user chose, of passages and of
    claims, and the index's own calibrations."""

    passages: PairJudge | None = None
    claims: PairJudge | None = None
    calibration: "GraderCalibration | None" = None
    claim_calibration: "ClaimCalibration | None" = None


@dataclass(frozen=True, slots=True)
class OfflineRoles(Roles):
    """Every role without a model or a network; ``analyzer`` is what they read text with."""

    abstainer: "CalibratedAbstainer"
    classifier: "OfflineClassifier"
    evaluator: "LocalEvaluator"
    grader: "OfflineGrader"
    refiner: "OfflineRefiner"
    rewriter: "OfflineRewriter"
    summarizer: "OfflineSummarizer"
    analyzer: "TextAnalyzer" = field(kw_only=True)


def offline_roles(
    tokenizer: Tokenizer,
    statistics: TermStatistics,
    embedder: Embedder | None,
    judging: ChosenJudges | None = None,
    cached: Embedder | None = None,
) -> OfflineRoles:
    """Every role without a model; ``cached`` is ``embedder`` with vectors kept, for sentences of passages."""
    from selfright.roles.abstain import CalibratedAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.classify import OfflineClassifier
    from selfright.roles.evaluate.heuristic import HeuristicEvaluator
    from selfright.roles.evaluate.nli import ClaimNli
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.generate.offline import OfflineGenerator
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.prompting import BilingualPrompter
    from selfright.roles.refine import OfflineRefiner
    from selfright.roles.rewrite.rewriters import OfflineRewriter
    from selfright.roles.selection import UnitScorer
    from selfright.roles.summarize import OfflineSummarizer
    from selfright.roles.trust import TrustedFirst, TrustingGenerator

    judging = judging or ChosenJudges()
    likeness, reader, claims = _measures(embedder, cached)
    analyzer, heuristic = TextAnalyzer(tokenizer, statistics), HeuristicEvaluator()
    nli = ClaimNli(judging.claims, judging.claim_calibration, claims)
    grader = OfflineGrader(analyzer, likeness, None, reader, judging.calibration, judging.passages)
    first = TrustedFirst(analyzer, OfflineGrader(analyzer, reader=reader), UnitScorer(analyzer))
    scorer = UnitScorer(analyzer, reader, likeness)
    evaluator = LocalEvaluator(analyzer, nli, reader)
    return OfflineRoles(
        classifier=OfflineClassifier(analyzer),
        grader=grader,
        refiner=OfflineRefiner(analyzer, scorer),
        prompter=BilingualPrompter(first=first),
        generator=TrustingGenerator(OfflineGenerator(analyzer, scorer), first),
        evaluator=evaluator,
        heuristic=heuristic,
        stand_in=heuristic,
        rewriter=OfflineRewriter(analyzer),
        summarizer=OfflineSummarizer(),
        abstainer=CalibratedAbstainer(),
        first=first,
        referee=evaluator,
        analyzer=analyzer,
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
    from selfright.roles.concerns import ConcernedEvaluator
    from selfright.roles.evaluate.heuristic import StandInJudge
    from selfright.roles.evaluate.llm import QualityEvaluator
    from selfright.roles.generate.citation_check import CitationChecker, GroundingCheck
    from selfright.roles.generate.llm import ModelGenerator
    from selfright.roles.grade.llm import ModelGrader
    from selfright.roles.refine import ModelRefiner
    from selfright.roles.rewrite.rewriters import QueryRewriter
    from selfright.roles.summarize import ModelSummarizer
    from selfright.roles.trust import TrustingGenerator

    roles: Roles = offline
    if Job.ANSWER in jobs:
        checker = CitationChecker(offline.analyzer)
        borne_out = GroundingCheck(offline.analyzer, offline.first.scorer)
        written = ModelGenerator(chat, offline.generator, checker, borne_out=borne_out)
        roles = replace(roles, generator=TrustingGenerator(written, offline.first), floor=offline.generator)
    if judging == "never":
        return roles
    if Job.CLASSIFY in jobs:
        roles = replace(roles, classifier=ModelClassifier(chat, offline.classifier, judging))
    if Job.GRADE in jobs:
        # Reading takes more of a core than the rest of a turn, and a model judges what is unsure by itself.
        grader = ModelGrader(chat, offline.grader.without_reader(), judging)
        roles = replace(roles, grader=grader, refiner=offline.refiner.without_reader())
    if Job.STRIPS in jobs:
        refiner = offline.refiner.without_reader()
        roles = replace(roles, refiner=ModelRefiner(chat, refiner, judging))
    if Job.EVALUATE in jobs:
        evaluator = QualityEvaluator(chat, offline.evaluator, offline.analyzer, judging)
        stand_in = StandInJudge(ConcernedEvaluator(offline.evaluator), offline.heuristic)
        roles = replace(roles, evaluator=evaluator, stand_in=stand_in)
    if Job.REWRITE in jobs:
        roles = replace(roles, rewriter=QueryRewriter(chat, offline.rewriter, judging))
    if Job.SUMMARIZE in jobs and judging == "always":
        roles = replace(roles, summarizer=ModelSummarizer(chat, offline.summarizer))
    return roles
