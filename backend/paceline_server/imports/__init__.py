"""Results of other tools: stored as given, with what the server computes from them."""
