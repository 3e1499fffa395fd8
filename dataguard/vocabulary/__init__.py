"""The vocabulary: from a tokenizer, a model folder, the suite and options to the limit, special ids and characters."""
