"""Where units of work run. An engine knows how to call a function on many units, and nothing of tokens."""
