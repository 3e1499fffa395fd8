"""Observations of samplers: simulated, of real ranks, of a user's loader, of a log; and what they say of a step."""
