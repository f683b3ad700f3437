"""What a language model may be trusted with, measured job by job beside the offline roles."""
