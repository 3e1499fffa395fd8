"""Suites: a YAML or JSON file becomes expectations with their settings, strictly, before any shard is opened."""
