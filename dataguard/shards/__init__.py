"""Where data comes in: which files are shards, what lies in them, and proof of it before anything else reads them."""
