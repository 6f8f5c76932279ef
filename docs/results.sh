#!/bin/sh
# Measures what docs/results.md reports on crowds.
#
#   docs/results.sh DATA OUT [CAZ]
#
# DATA holds the folders labels-cebab and labels-llm-rubric, each with labels.csv and z.csv; OUT
# gets one table per experiment (CSV), the raw trials and the figures. An interrupted run goes on.
set -eu
data=$1
out=$2
caz=${3:-target/release/caz}
mkdir -p "$out"

# name, experiment, data set, then flags.
measure() {
    name=$1 experiment=$2 folder=$data/$3
    shift 3
    "$caz" experiment "$experiment" "$folder/labels.csv" --z "$folder/z.csv" --seed 1 \
        --raw "$out/$name.jsonl" --resume --figures "$out/$name" --output "$out/$name.csv" \
        --quiet "$@"
}

# Independent samples of one LLM: Z is the first, cheaters hand in the others.
measure rubric detection labels-llm-rubric
measure rubric-size sample-size labels-llm-rubric --mechanism ca_z,ds_z,oa_z,ca

# Every LLM as Z and as the cheaters'; one sample each, so that the same LLM means a copy of Z.
llms="gemini_flash gemini_pro gpt-4o gpt-4o-mini llama-31 mistral-v03"
for z in $llms; do
    for cheater in $llms; do
        measure "cebab-$z-$cheater" detection labels-cebab --llm 0,.1,.2 \
            --z-source "$z" --llm-source "$cheater" --copy-z
    done
done
measure cebab-two multi-llm labels-cebab --llm 0,.1,.2 --z-source gpt-4o,llama-31 --copy-z
measure cebab-all multi-llm labels-cebab --llm 0,.1,.2 --copy-z

# One table: data, mechanism, mean AUC, 10 % quantile, over all shares.
for table in "$out"/rubric.csv "$out"/cebab-*-*.csv; do
    name=$(basename "$table" .csv)
    awk -F, -v name="$name" 'NR > 1 && $2 == "" {
        printf "%s,%s,%.3f,%.3f,%d,%d\n", name, $1, $3, $4, $6, $7 }' "$table"
done > "$out/summary.csv"
echo "wrote $out/summary.csv"
