"""How useful packets were: task records, measures and recommendations."""
