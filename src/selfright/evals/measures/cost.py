"""Metrics of what a turn took: passes, calls, tokens, time; and whether it ended as it must."""

from dataclasses import dataclass

from selfright.evals.metrics import Sample, Value


@dataclass(frozen=True, slots=True)
class Iterations:
    """S0's iterations: passes retrieve → … → evaluate."""

    name: str = "iterations"

    def measure(self, sample: Sample) -> Value:
        """At least one; also of a turn that retrieved nothing."""
        return Value(float(max(1, len(sample.turn.passes))), f"stopped: {sample.turn.stop_reason}")


@dataclass(frozen=True, slots=True)
class LLMCalls:
    """S0's LLM calls: all calls of the turn; those of the study's judge are not among them."""

    name: str = "llm_calls"

    def measure(self, sample: Sample) -> Value:
        """0 offline."""
        return Value(float(sample.turn.llm_calls), "degraded" if sample.turn.degraded else "")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens in and out, as the provider counts them."""

    name: str = "tokens"

    def measure(self, sample: Sample) -> Value:
        """Prompt and completion together."""
        turn = sample.turn
        total = turn.prompt_tokens + turn.completion_tokens
        return Value(float(total), f"{turn.prompt_tokens} in, {turn.completion_tokens} out")


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall time of the turn; with several workers on a busy machine more than it would take alone."""

    name: str = "seconds"

    def measure(self, sample: Sample) -> Value:
        """As the turn's own meter has it."""
        return Value(sample.turn.seconds, "")


@dataclass(frozen=True, slots=True)
class InfiniteLoop:
    """S0's infinite-loop rate: 1 for a turn that made more passes than ``max_refine_iterations`` allows.

    Such a turn would have gone on if nothing from outside had stopped it.
    """

    name: str = "infinite_loop_rate"

    def measure(self, sample: Sample) -> Value:
        """The bound is the flag's, plus the first pass."""
        most = 1 + int(sample.flags["max_refine_iterations"])
        passes = len(sample.turn.passes)
        return Value(float(passes > most), f"{passes} of at most {most} passes")


@dataclass(frozen=True, slots=True)
class RetrievalAvoided:
    """S2's saving: 1 for a turn that was answered without a single search, from the model or the conversation."""

    name: str = "retrieval_avoided"

    def measure(self, sample: Sample) -> Value:
        """By the nodes that ran."""
        searches = sum(visit.node == "retrieve" for visit in sample.turn.path)
        return Value(float(not searches), f"{searches} searches")


@dataclass(frozen=True, slots=True)
class CutShort:
    """1 for a turn that wanted another pass and was stopped by the limit, the budget or the deadline."""

    name: str = "cut_short"

    def measure(self, sample: Sample) -> Value:
        """By the stop reason; of one that abstained, by what stopped the loop before."""
        limits = ("max_iterations", "budget", "deadline")
        visits = (visit.said for visit in sample.turn.path if visit.node == "quality_check")
        ended = next((said.removeprefix("stop: ") for said in visits if said.startswith("stop: ")), "")
        reason = ended or sample.turn.stop_reason
        return Value(float(reason in limits), reason)
