"""From judged examples to probabilities that mean what they say, and to thresholds with a stated risk."""
