"""What packets were worth: records, measures, recommendations."""
