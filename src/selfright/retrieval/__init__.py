"""What is found: tokenizing, lexical and dense indexes over one catalogue, their fusion, and the stores."""
