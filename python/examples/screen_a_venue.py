"""Screens the bundled sample venue and prints whom to look at: python screen_a_venue.py FOLDER."""

import sys
from pathlib import Path

import caz

data = Path(sys.argv[1])
result = caz.reviews(data / "reviews.jsonl", data / "llm-reviews.jsonl")
for warning in result.warnings:
    print("note:", warning["message"])
for row in result.table[:5]:
    print(row["reviewer"], row["score_name"], row["score"], row["flag"])
