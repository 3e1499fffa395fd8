"""report.html: the result as one page that opens from disk, fetches nothing, and shows no markup of anybody's data."""
