"""Install Holdfast into agent programs, remove it again, and test it."""
