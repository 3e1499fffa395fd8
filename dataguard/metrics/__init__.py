"""Tokens become numbers: one file a family, its kernels and what they give."""
