"""Answer a question from the decisions and constraints of recorded sessions."""
