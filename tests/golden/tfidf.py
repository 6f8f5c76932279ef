"""Expected vectors of the tfidf embedder, by scikit-learn.

Run: python tests/golden/tfidf.py > tests/golden/tfidf.json   (scikit-learn 1.9.1, numpy 2.4.6)
"""
import json

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer

CORPUS = [
    "The method is novel, and the experiments support the method.",
    "Experiments are weak: no ablation, no baseline. Weak!",
    "I don't see the novelty; the method isn't compared with the baseline of 2021.",
    "Écriture claire, méthode naïve. THE baseline is missing",
    "the the the the the",
    "",
]
QUERIES = ["The baseline method, the method again", "unseen words only", "Weak weak weak méthode"]

# Words of the same kind as ours in this corpus: letters and digits, apostrophes inside.
vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\w+(?:'\w+)*")
vectorizer.fit(CORPUS)
names = vectorizer.get_feature_names_out()
rows = []
for text in CORPUS + QUERIES:
    row = vectorizer.transform([text]).tocoo()
    entries = {str(names[column]): float(value) for column, value in zip(row.col, row.data)}
    rows.append({"text": text, "weights": dict(sorted(entries.items()))})
print(json.dumps({"scikit_learn": sklearn.__version__, "corpus": len(CORPUS), "rows": rows}, indent=1, ensure_ascii=False))
