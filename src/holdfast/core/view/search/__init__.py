"""Finding what was said: words, passages, questions and how well one answers the other."""
