"""Where pages come from: one provider a file, all behind the port ``WebSearch``."""
