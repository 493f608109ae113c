"""What packets were worth: records of tasks, what they add up to, and what to change for it."""
