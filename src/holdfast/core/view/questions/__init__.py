"""Answer a question from the decisions of recorded sessions."""
