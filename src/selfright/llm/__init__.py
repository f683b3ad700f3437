"""Language models and embedders: names, providers, calls within a turn, and how replies are read."""
