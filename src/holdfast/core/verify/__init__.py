"""Stage 6, was anything lost: rules from before and after to complaints."""
