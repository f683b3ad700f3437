"""Who does which job in a turn."""

from dataclasses import dataclass

from selfright.domain.ports import (
    Abstainer,
    Classifier,
    Embedder,
    Evaluator,
    Generator,
    Grader,
    ProfileStore,
    Prompter,
    Refiner,
    Rewriter,
    SlotExtractor,
    TermStatistics,
    Tokenizer,
)

_FITTED_ENCODER = "minilm-l6-v2"


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does which job; the heuristic stands in when the evaluator fails."""

    classifier: Classifier
    grader: Grader
    refiner: Refiner
    prompter: Prompter
    generator: Generator
    evaluator: Evaluator
    heuristic: Evaluator
    rewriter: Rewriter
    abstainer: Abstainer
    slots: SlotExtractor
    profiles: ProfileStore


def offline_roles(tokenizer: Tokenizer, statistics: TermStatistics, embedder: Embedder | None) -> Roles:
    """Every role without a model or a network.

    Their judgement was fitted on the cosines of the English encoder that ships; of another embedder's they know
    nothing, and judge by words.
    """
    from selfright.memory.profiles import InMemoryProfiles, NoSlots
    from selfright.roles.abstain import SupportAbstainer
    from selfright.roles.analysis import TextAnalyzer
    from selfright.roles.classify.offline import OfflineClassifier
    from selfright.roles.classify.topics import IndexTopics
    from selfright.roles.evaluate.heuristic import HeuristicEvaluator
    from selfright.roles.evaluate.offline import LocalEvaluator
    from selfright.roles.evaluate.support import DEFAULT_THRESHOLD
    from selfright.roles.generate.offline import OfflineGenerator
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.prompts import BilingualPrompter
    from selfright.roles.rewrite.offline import OfflineRewriter
    from selfright.roles.strips import OfflineRefiner

    known = embedder if embedder is not None and embedder.name == _FITTED_ENCODER else None
    analyzer = TextAnalyzer(tokenizer, statistics)
    return Roles(
        classifier=OfflineClassifier(IndexTopics(analyzer)),
        grader=OfflineGrader(analyzer, known),
        refiner=OfflineRefiner(analyzer, known),
        prompter=BilingualPrompter(),
        generator=OfflineGenerator(analyzer, known),
        evaluator=LocalEvaluator(analyzer, known),
        heuristic=HeuristicEvaluator(),
        rewriter=OfflineRewriter(analyzer),
        abstainer=SupportAbstainer(DEFAULT_THRESHOLD),
        slots=NoSlots(),
        profiles=InMemoryProfiles(),
    )
