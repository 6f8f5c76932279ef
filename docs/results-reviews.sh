#!/bin/sh
# Measures what docs/results-reviews.md reports on reviews.
#
#   docs/results-reviews.sh DATA OUT [CAZ] [MINILM_FOLDER]
#
# DATA holds the folder reviews-iclr24 with reviews.jsonl and z.jsonl; OUT gets one table per
# experiment (CSV), the raw trials and figures. An interrupted run goes on. MiniLM only if named.
set -eu
data=$1/reviews-iclr24
out=$2
caz=${3:-target/release/caz}
minilm=${4:-}
mkdir -p "$out"

# name, embedder, then flags.
measure() {
    name=$1 embedder=$2
    shift 2
    "$caz" experiment reviews "$data/reviews.jsonl" --z "$data/z.jsonl" --seed 1 \
        --embedder "$embedder" --raw "$out/$name.jsonl" --resume --figures "$out/$name" \
        --output "$out/$name.csv" --quiet "$@"
}

embedders() {
    echo static
    echo tfidf
    [ -z "$minilm" ] || echo "bert:$minilm"
}

embedders | while read -r embedder; do
    short=${embedder%%:*}
    measure "reviews-$short" "$embedder" --k 5,8
    for half in first second; do
        measure "reviews-$short-$half" "$embedder" --k 5 --half "$half"
    done
done
measure reviews-static-one-paper static --k 1,2 --trials 20
measure reviews-static-half-z static --k 5 --z-coverage .5
measure reviews-static-many static --k 5 --exact-share .1
measure reviews-static-two-reviews static --k 5 --reviews-per-paper 2
