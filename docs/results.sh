#!/bin/sh
# Measures what docs/results.md reports and writes the tables of crowds and reviews as CSV.
#
#   docs/results.sh DATA OUT
#
# DATA holds public data sets in the formats of caz: labels-cebab and labels-llm-rubric with
# labels.csv and z.csv, reviews-iclr24 with reviews.jsonl and z.jsonl. OUT gets the result of every
# experiment, its trials and figures; an interrupted run goes on where it was.
#
#   CAZ      the program [cargo run --release --quiet --]
#   MINILM   folder or hub name of all-MiniLM-L6-v2; without it the tables of MiniLM stay as they are
#   TRIALS   trials per point, for a quick look [50 for crowds, 100 for reviews]
#   RESULTS  the folder to write into [results beside this script]
set -eu
data=$1
out=$2
caz=${CAZ:-cargo run --release --quiet --}
minilm=${MINILM:-}
results=${RESULTS:-$(dirname "$0")/results}
crowd_trials=${TRIALS:-50}
review_trials=${TRIALS:-100}
mkdir -p "$out/blocks"

# ---- measuring ----

# One experiment, kept from an earlier run. Arguments: name, then those of `caz experiment`.
measure() {
    name=$1
    shift
    # CAZ may be several words. shellcheck disable=SC2086
    $caz experiment "$@" --seed 1 --raw "$out/$name.jsonl" \
        --figures "$out/$name" --output "$out/$name.csv" --quiet
}

# name, experiment, data set, then flags.
crowd() {
    name=$1 experiment=$2 folder=$data/$3
    shift 3
    measure "$name" "$experiment" "$folder/labels.csv" --z "$folder/z.csv" \
        --trials "$crowd_trials" "$@"
}

# name, vectors, then flags. Vectors of MiniLM are made once; rewritten texts need new ones.
reviews() {
    name=$1 embedder=$2 reviews=$data/reviews-iclr24/reviews.jsonl z=$data/reviews-iclr24/z.jsonl
    shift 2
    case $embedder in
        minilm) reviews=$out/vectors-reviews.jsonl z=$out/vectors-z.jsonl embedder=given ;;
        minilm-texts) embedder=bert:$minilm ;;
    esac
    measure "$name" reviews "$reviews" --z "$z" --embedder "$embedder" --trials "$review_trials" "$@"
}

llms="gemini_flash gemini_pro gpt-4o gpt-4o-mini llama-31 mistral-v03"

crowds() {
    # Independent samples of one LLM: Z is the first, cheaters hand in the others.
    crowd rubric detection labels-llm-rubric
    crowd rubric-size sample-size labels-llm-rubric
    # Every LLM as Z and as the cheaters'; one sample each, so that the same LLM means a copy of Z.
    # A twentieth of ten workers is nobody.
    for z in $llms; do
        for cheater in $llms; do
            crowd "cebab-$z-$cheater" detection labels-cebab --crowd llm=0,.1,.2 \
                --crowd z-source="$z",llm-source="$cheater",copy-z
        done
    done
    # Many cheaters, and LLM cheaters alone.
    crowd rubric-many detection labels-llm-rubric --crowd llm=.3,.4,.5,.6
    crowd rubric-alone detection labels-llm-rubric --crowd llm=.1,.2,.3,.4,.5,.6,others=0
    for z in gpt-4o llama-31; do
        crowd "cebab-many-$z" detection labels-cebab --crowd llm=.3,.4,.5,.6 \
            --crowd z-source="$z",llm-source=gpt-4o,copy-z
        crowd "cebab-alone-$z" detection labels-cebab --crowd llm=.1,.2,.3,.4,.5,.6,others=0 \
            --crowd z-source="$z",llm-source=gpt-4o,copy-z
    done
    crowd cebab-two multi-llm labels-cebab --crowd llm=0,.1,.2,z-source=gpt-4o,llama-31,copy-z
    crowd cebab-all multi-llm labels-cebab --crowd llm=0,.1,.2,copy-z
}

# Polished people are accused by similarities and not by contrasts.
fair_scores=main,combined_similarity

# All experiments on reviews with one kind of vectors.
reviewers() {
    vectors=$1 texts=$2
    reviews "$vectors-all" "$vectors" --venue k=5,8
    reviews "$vectors-z" "$vectors" --venue k=5 --score projections,combined --venue z-together,copy-z
    for half in first second; do
        reviews "$vectors-$half" "$vectors" --venue k=5,half="$half" --score main,ablation
    done
    reviews "$vectors-two" "$vectors" --venue k=2
    reviews "$vectors-one" "$vectors" --venue k=1
    reviews "$vectors-one-one" "$vectors" --venue k=1,reviews-per-paper=2
    reviews "$vectors-peer" "$vectors" --venue k=5,reviews-per-paper=2
    reviews "$vectors-half-z" "$vectors" --venue k=5,z-coverage=.5
    for share in .1 .15 .2 .25; do
        reviews "$vectors-share$share" "$vectors" --venue k=5 --venue share="$share..$share"
    done
    reviews "$vectors-reworded" "$texts" --venue k=5,reword-copies
    reviews "$vectors-polish" "$texts" --venue k=5,polish=.2 --score "$fair_scores"
    reviews "$vectors-formal" "$texts" --venue k=5,formal=.2 --score "$fair_scores"
    reviews "$vectors-short3" "$texts" --venue k=5,shorten=.2,sentences=3 --score "$fair_scores"
    reviews "$vectors-short6" "$texts" --venue k=5,shorten=.2,sentences=6 --score "$fair_scores"
}

embed_once() {
    for file in reviews z; do
        [ -e "$out/vectors-$file.jsonl" ] ||
            $caz embed "$data/reviews-iclr24/$file.jsonl" --embedder "bert:$minilm" \
                --vectors granularity=sentence --output "$out/vectors-$file.jsonl" --quiet
    done
}

# ---- tables ----

# number(x): three decimals without a leading zero; cell(mean, quantile): `.838 (.67)`.
awk_functions='
    function number(x, digits,    text) {
        if (x == "") return "-"
        text = sprintf("%." digits "f", x)
        sub(/^0\./, ".", text)
        sub(/^-0\./, "-.", text)
        return text
    }
    function cell(mean, low) { return number(mean, 3) " (" number(low, 2) ")" }
'

# Program, then variables (name=value) and files.
table() {
    program=$1
    shift
    awk -F, "$awk_functions $program" "$@"
}

# Begins a table: name of its block, then the names of its columns.
begin() {
    block=$out/blocks/$1.md
    shift
    line='|' rule='|'
    for column in "$@"; do
        line="$line $column |" rule="$rule---|"
    done
    printf '\n%s\n%s\n' "$line" "$rule" > "$block"
}

# Ends it with a line on how it was made.
end() {
    printf '\n%s\n' "$1" >> "$block"
}

mechanisms="ca_z excess_z ds_z ca oa oa_z ds neg_z"

# One row per mechanism, one column per share of LLM cheaters, of an experiment.
shares() {
    for mechanism in $mechanisms; do
        table '$1 == mechanism && $2 != "" { line = line " " cell($3, $4) " |" }
            END { print "| `" mechanism "` |" line }' \
            mechanism="$mechanism" "$out/$1.csv" >> "$block"
    done
}

crowd_tables() {
    same='' other=''
    for z in $llms; do
        for cheater in $llms; do
            file=$out/cebab-$z-$cheater.csv
            if [ "$z" = "$cheater" ]; then same="$same $file"; else other="$other $file"; fi
        done
    done
    mean='$1 == mechanism && $2 == "" { sum += $3; low += $4; n++ } END { print cell(sum / n, low / n) }'
    begin crowds mechanism "rubric, another sample of the LLM of Z" "cebab, copies of Z (6 LLMs)" \
        "cebab, another LLM than Z (30 pairs)"
    for mechanism in $mechanisms; do
        first=$(table '$1 == mechanism && $2 == "" { print cell($3, $4) }' \
            mechanism="$mechanism" "$out/rubric.csv")
        # Lists of files without blanks. shellcheck disable=SC2086
        second=$(table "$mean" mechanism="$mechanism" $same)
        third=$(table "$mean" mechanism="$mechanism" $other)
        echo "| \`$mechanism\` | $first | $second | $third |" >> "$block"
    done
    end "Mean AUC (10 % quantile), $crowd_trials trials per share of LLM cheaters; columns of *cebab* are means over LLMs."

    begin crowds-share mechanism 0 .05 .10 .15 .20
    shares rubric
    end "*rubric*, by the share of LLM cheaters; $crowd_trials trials each."

    for file in rubric-many cebab-many-gpt-4o cebab-many-llama-31; do
        begin "crowds-$file" mechanism .3 .4 .5 .6
        shares "$file"
        end "LLM cheaters in this share of the crowd, beside up to 20 % random and 20 % biased workers; $crowd_trials trials each."
    done
    for file in rubric-alone cebab-alone-gpt-4o cebab-alone-llama-31; do
        begin "crowds-$file" mechanism .1 .2 .3 .4 .5 .6
        shares "$file"
        end "LLM cheaters alone in this share of the crowd; $crowd_trials trials each."
    done

    for mechanism in ca_z excess_z ds_z; do
        # Names of LLMs without blanks. shellcheck disable=SC2086
        begin "crowds-$mechanism" "Z, \`$mechanism\`" $llms
        for z in $llms; do
            line="| $z |"
            for cheater in $llms; do
                value=$(table '$1 == mechanism && $2 == "" { print number($3, 3) }' \
                    mechanism="$mechanism" "$out/cebab-$z-$cheater.csv")
                line="$line $value |"
            done
            echo "$line" >> "$block"
        done
        end "*cebab*, mean AUC by the LLM of Z (row) and of the cheaters (column)."
    done

    begin crowds-wins mechanism "rubric" "copies of Z: cases of 6" "another LLM: cases of 30"
    wins='$2 == "" { auc[FILENAME, $1] = $3; file[FILENAME] = 1 }
        END { for (f in file) won += auc[f, "ca_z"] > auc[f, mechanism]; print won + 0 }'
    for mechanism in ca oa oa_z ds neg_z excess_z ds_z; do
        # shellcheck disable=SC2086
        echo "| \`$mechanism\` | $(table "$wins" mechanism="$mechanism" "$out/rubric.csv")" \
            "| $(table "$wins" mechanism="$mechanism" $same)" \
            "| $(table "$wins" mechanism="$mechanism" $other) |" >> "$block"
    done
    end "In how many cases \`ca_z\` has the larger mean AUC than the mechanism of the row."

    begin crowds-several "what is Z" "cheaters pick one of two" "cheaters pick one of six"
    several='$1 == "ca_z" && $2 == z && $3 == "" { print cell($4, $5) }'
    for z in "lowest over all" $llms; do
        two=$(table "$several" z="$z" "$out/cebab-two.csv")
        all=$(table "$several" z="$z" "$out/cebab-all.csv")
        echo "| $z | ${two:--} | ${all:--} |" >> "$block"
    done
    end "*cebab*, \`ca_z\`; two: gpt-4o and llama-31. A Z alone is one of those that cheaters use."

    begin crowds-size mechanism "20 %" "40 %" "60 %" "80 %" "100 %"
    for mechanism in $mechanisms; do
        table '$1 == mechanism { line = line " " number($3, 3) " |" }
            END { print "| `" mechanism "` |" line }' \
            mechanism="$mechanism" "$out/rubric-size.csv" >> "$block"
    done
    end "*rubric*, 15 % LLM cheaters, mean AUC by the share of the tasks that the LLM labels, $crowd_trials trials."
}

# Rows of one experiment on reviews: label, file, papers per reviewer, scores; the kinds in columns.
kinds() {
    label=$1 file=$2 k=$3
    shift 3
    for score in "$@"; do
        table '$1 == k && $2 == score && $4 == "" { auc[$3] = cell($5, $6) }
            END {
                print "| " label " | `" score "` | " auc["mixed"] " | " auc["llm"] " | " \
                    auc["off_topic"] " | " auc["off_topic_llm"] " |"
            }' label="$label" k="$k" score="$score" "$file" >> "$block"
    done
}

kind_columns="mixed llm off_topic off_topic_llm"
main_scores="projected projected_centered cosine negative combined"

# Tables of one kind of vectors, one block each.
review_tables() {
    vectors=$1
    # shellcheck disable=SC2086
    begin "$vectors-all" "papers each" score $kind_columns
    for k in 5 8; do
        # shellcheck disable=SC2086
        kinds "$k" "$out/$vectors-all.csv" $k $main_scores
    done
    points=$((2 * review_trials))
    end "All papers, $points trials per row: $review_trials with each LLM review as Z."

    begin "$vectors-roles" score "Z = ours" "Z = liang24"
    for score in $main_scores; do
        table '$1 == 5 && $2 == score && $3 == "mixed" && $4 ~ /ours/ { ours = cell($5, $6) }
            $1 == 5 && $2 == score && $3 == "mixed" && $4 ~ /liang24/ { liang = cell($5, $6) }
            END { print "| `" score "` | " ours " | " liang " |" }' \
            score="$score" "$out/$vectors-all.csv" >> "$block"
    done
    end "All kinds mixed, five papers each, by the prompt of the LLM review that is Z; $review_trials trials."

    # shellcheck disable=SC2086
    begin "$vectors-z" Z score $kind_columns
    for score in projected projected_centered projected_min projected_centered_min \
        projected_mean projected_centered_mean combined; do
        kinds "both" "$out/$vectors-z.csv" 5 "$score"
    done
    end "Both LLM reviews are Z, cheaters hand in one of them word for word; five papers each, $review_trials trials."

    # shellcheck disable=SC2086
    begin "$vectors-half" half score $kind_columns
    for half in first second; do
        # shellcheck disable=SC2086
        kinds "$half" "$out/$vectors-$half.csv" 5 $main_scores
    done
    end "Five papers each; every second paper, from the first or from the second; $points trials."

    # shellcheck disable=SC2086
    begin "$vectors-ablation" half score $kind_columns
    for half in first second; do
        # shellcheck disable=SC2086
        kinds "$half" "$out/$vectors-$half.csv" 5 combined combined_topic combined_z combined_sum \
            combined_centered combined_similarity combined_similarity_whitened
    done
    end "Five papers each, $points trials."

    # shellcheck disable=SC2086
    begin "$vectors-stress" case score $kind_columns
    stress "five papers, two peers, 3 to 30 % cheat" all
    stress "two papers each" two 2
    stress "**one paper each, two peers in all**" one 1
    stress "one paper each, one peer" one-one 1
    stress "one peer per paper" peer
    stress "half of the papers without Z" half-z
    stress "30 % cheat" share.1
    stress "45 % cheat" share.15
    stress "60 % cheat" share.2
    stress "**75 % cheat**" share.25
    stress "cheaters reword by rules and drop a third" reworded
    end "All papers, $points trials per case."

    begin "$vectors-fairness" rewriting score "AUC of rewritten against other people" \
        "shift of percentile" "below 5 %" "the same with own texts"
    for score in $main_scores combined_similarity; do
        fairness "polished" polish
        fairness "formal words" formal
        fairness "first 3 sentences" short3
        fairness "first 6 sentences" short6
    done
    end "A fifth of the people; five papers each, $points trials. Without effect: .5, 0, and the last two columns equal."
}

# label, name of the experiment, papers per reviewer.
stress() {
    kinds "$1" "$out/$vectors-$2.csv" "${3:-5}" projected_centered combined
}

# label, name of the experiment; the score is that of the loop.
fairness() {
    table '$2 == score && $3 == "rewritten" {
            print "| " label " | `" score "` | " cell($5, $6) " | " number($11, 3) " | " \
                number($12, 3) " | " number($13, 3) " |"
        }' label="$1" score="$score" "$out/$vectors-$2.csv" >> "$block"
}

# Writes every table that was made as CSV.
fill() {
    mkdir -p "$results"
    for block in "$out"/blocks/*.md; do
        awk '/^\|/ && !/^\|[-:|]*$/ {
                gsub(/`|\*\*/, "")
                sub(/^\| */, "")
                sub(/ *\|$/, "")
                count = split($0, cell, / *\| */)
                for (i = 1; i <= count; i++)
                    printf "%s%s", (cell[i] ~ /[,"]/ ? "\"" cell[i] "\"" : cell[i]), (i < count ? "," : "\n")
            }' "$block" > "$results/$(basename "$block" .md).csv"
    done
}

crowds
crowd_tables
for vectors in static tfidf; do
    reviewers $vectors $vectors
    review_tables $vectors
done
if [ -n "$minilm" ]; then
    embed_once
    reviewers minilm minilm-texts
    review_tables minilm
fi
fill
echo "wrote $results"
