"""How a turn runs: the state, the nodes, the routes between them, and the presets as tables."""
