"""The order of things: plan, scan, store, judge, and what is written at the end."""
