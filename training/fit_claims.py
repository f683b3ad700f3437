"""Fits what shared words and what speaks for an edit say together of an English claim (``roles/evaluate/scoring.py``).

    python -m training.fit_claims --data DIR [--check]

Rows are answers of summedits and mtrag, with the means of their claims' signals; both sets count the same, and of each
as much what holds as what does not. No signal may count against its meaning. Figures are of documents (summedits),
domains (summedits) and conversations (mtrag) that the weights were not fitted on; healthver_nc is only measured. EDITED
is the fitted intercept, moved until as many claims of mtrag's faithful answers count as supported as by shared words
alone. ``--check`` tells whether the weights in the package are these.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from selfright.domain.passages import Hit
from selfright.domain.ports import Tokenizer
from selfright.domain.text import sentence_spans
from selfright.roles.evaluate import scoring
from selfright.roles.evaluate.claims import claim_facts
from selfright.roles.evaluate.edits import Edits, edits
from selfright.roles.evidence import sources
from training.answered import Answered, analyzer_of, healthver_nc, mtrag, summedits
from training.fitting import Array, auc, sigmoid, signed_logistic

NAMES = ("SHARED", "EXPLAINED", "MISNAMED", "TURNED", "ABSOLUTE")
SIGNS = np.array([1, 1, -1, -1, -1])
LITERAL = np.array([scoring.CAP, Edits().explained, 0.0, 0.0, 0.0])
FOLDS, RIDGE = 6, 2.0


@dataclass(frozen=True)
class Claims:
    """The claims of a set's answers that the evidence does not say word for word, and the answers they are of.

    ``x``: one row of signals to a claim, the log-odds by shared words first and not yet cut off at CAP; ``of``: its
    answer. Of the answers: label, group, and how many of their claims are verbatim.
    """

    x: Array
    of: Array
    labels: Array
    groups: Sequence[str]
    verbatim: Array

    def scores(self, weights: Array) -> Array:
        """The mean support of each answer's claims."""
        support = sigmoid(self.capped() @ weights[:-1] + weights[-1])
        total = np.bincount(self.of.astype(int), support, len(self.labels)) + self.verbatim
        count = np.bincount(self.of.astype(int), minlength=len(self.labels)) + self.verbatim
        return np.asarray(total / np.maximum(1, count))

    def capped(self) -> Array:
        """``x`` as the scorer takes it."""
        x = self.x.copy()
        x[:, 0] = np.minimum(x[:, 0], scoring.CAP)
        return x

    def means(self) -> Array:
        """Of each answer the mean signals of its claims; what is verbatim shares all words and lacks none."""
        of = self.of.astype(int)
        count = np.bincount(of, minlength=len(self.labels)) + self.verbatim
        sums = [np.bincount(of, column, len(self.labels)) for column in self.capped().T]
        total = np.stack(sums, axis=1) + np.outer(self.verbatim, LITERAL)
        return np.asarray(total / np.maximum(1, count)[:, None])

    def weight(self, kept: Array) -> Array:
        """Of each answer that is kept: those that hold and those that do not weigh a half each."""
        share = self.labels[kept].mean()
        return np.asarray(np.where(self.labels == 1, 0.5 / share, 0.5 / (1 - share))[kept] / kept.sum())


def claims_of(rows: Sequence[Answered], tokenizer: Tokenizer) -> Claims:
    """Reads every claim as the evaluator does."""
    analyzer = analyzer_of(rows, tokenizer)
    x, of, verbatim = [], [], np.zeros(len(rows))
    for number, row in enumerate(rows):
        evidence = sources((), tuple(Hit(each, 1.0) for each in row.evidence))
        said = [sentence for source in evidence for sentence in source.sentences]
        for start, end in sentence_spans(row.answer):
            fact = claim_facts(row.answer[start:end], evidence, analyzer)
            found = None if fact.verbatim else edits(fact.text, said, analyzer)
            verbatim[number] += fact.verbatim
            if found is not None:
                own = scoring.words_support(fact)
                x.append(
                    [math.log(own / (1 - own)), found.explained, found.misnamed, found.turned, float(found.absolute)]
                )
                of.append(number)
    labels = np.array([float(row.label) for row in rows])
    return Claims(np.array(x), np.array(of), labels, [row.group for row in rows], verbatim)


def fitted(parts: Sequence[tuple[Claims, Array]]) -> Array:
    """Weights and intercept; of each set the answers that are ``kept``."""
    x = np.vstack([claims.means()[kept] for claims, kept in parts])
    y = np.concatenate([claims.labels[kept] for claims, kept in parts])
    weight = np.concatenate([claims.weight(kept) for claims, kept in parts])
    spread = x.std(axis=0) + 1e-6
    found = signed_logistic(x / spread, y, weight * len(y) / weight.sum(), RIDGE, SIGNS)
    return np.append(found[:-1] / spread, found[-1])


def folds(groups: Sequence[str]) -> Array:
    """Groups in turn, in the order of their names."""
    place = {group: number % FOLDS for number, group in enumerate(sorted(set(groups)))}
    return np.array([float(place[group]) for group in groups])


def everything(claims: Claims) -> Array:
    return np.ones(len(claims.labels), dtype=bool)


def held_out(one: Claims, parts: Array, other: Claims) -> Array:
    """Scores of ``one``'s answers by weights fitted without their part; from ``other`` everything."""
    found = np.zeros(len(one.labels))
    for part in np.unique(parts):
        found[parts == part] = one.scores(fitted([(one, parts != part), (other, everything(other))]))[parts == part]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer = BilingualTokenizer()
    edited, voted, measured = (
        claims_of(list(loader(arguments.data)), tokenizer) for loader in (summedits, mtrag, healthver_nc)
    )
    names = sorted({group.split("-")[0] for group in edited.groups})
    domains = np.array([float(names.index(group.split("-")[0])) for group in edited.groups])
    for name, one, parts, other in (
        ("summedits, by document", edited, folds(edited.groups), voted),
        ("summedits, by domain", edited, domains, voted),
        ("mtrag, by conversation", voted, folds(voted.groups), edited),
    ):
        scores = held_out(one, parts, other)
        each = [auc(scores[parts == part], one.labels[parts == part]) for part in np.unique(parts)]
        print(f"{name:24} {auc(scores, one.labels):.3f}, the parts {' '.join(f'{value:.3f}' for value in each)}")
    weights = fitted([(edited, everything(edited)), (voted, everything(voted))])
    print(f"{'healthver_nc, measured':24} {auc(measured.scores(weights), measured.labels):.3f}")
    faithful = voted.labels[voted.of.astype(int)] == 1
    margins = voted.capped()[faithful] @ weights[:-1]
    share = (voted.x[faithful, 0] >= 0).mean()
    raised = -float(np.quantile(margins, 1 - share))
    print(f"fitted intercept {weights[-1]:.2f}; {share:.1%} of faithful claims were supported, so {raised:.2f}")
    made = {name: round(float(w), 2) for name, w in zip(NAMES, weights, strict=False)} | {"EDITED": round(raised, 2)}
    print(made)
    if arguments.check:
        shipped = {name: getattr(scoring, name) for name in made}
        raise SystemExit(0 if shipped == made else f"the package has {shipped}")


if __name__ == "__main__":
    main()
