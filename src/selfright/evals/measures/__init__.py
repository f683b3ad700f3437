"""The metrics, by what they look at: words, judgements, retrievals, cost."""
