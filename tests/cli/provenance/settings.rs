//! Every flag that is a setting, with a value that is not its default.

use serde_json::{Value, json};

/// A flag, a value that is not its default, and what the settings hold then.
pub(super) struct Setting {
    pub(super) command: &'static str,
    pub(super) flag: &'static str,
    /// Nothing for a flag without a value; other flags that go with this value.
    value: &'static str,
    /// Other flags that this one needs, with their values.
    pub(super) with: &'static str,
    /// Whether it cannot be given together with the other flags of the command.
    pub(super) alone: bool,
    /// Key in the settings; a slash goes into an object.
    pub(super) key: &'static str,
    pub(super) expected: fn() -> Value,
}

impl Setting {
    /// The flag, as typed.
    pub(super) fn typed(&self) -> Vec<String> {
        let mut typed = vec![format!("--{}", self.flag)];
        if let Some((flag, key)) = self.flag.split_once(' ') {
            let value = if self.value.is_empty() { "" } else { "=" };
            return vec![format!("--{flag}={key}{value}{}", self.value)];
        }
        typed.extend(self.value.split_whitespace().map(str::to_owned));
        typed
    }

    /// What the flag needs, as typed.
    pub(super) fn needed(&self) -> Vec<String> {
        self.with.split_whitespace().map(str::to_owned).collect()
    }

    /// The same flag with others that it needs.
    const fn with(self, with: &'static str) -> Self {
        Self { with, ..self }
    }

    /// The same flag, which other settings contradict.
    const fn alone(self) -> Self {
        Self { alone: true, ..self }
    }
}

const fn setting(
    command: &'static str,
    (flag, value): (&'static str, &'static str),
    key: &'static str,
    expected: fn() -> Value,
) -> Setting {
    Setting { command, flag, value, with: "", alone: false, key, expected }
}

/// A table that aspects are read from.
const TABLE: &str = concat!("static:", env!("CARGO_MANIFEST_DIR"), "/models/static-minilm-128");

/// What chooses an encoder.
const ENCODER: &str =
    concat!("--embedder bert:", env!("CARGO_MANIFEST_DIR"), "/tests/golden/tiny/bert");

pub(super) static SETTINGS: &[Setting] = &[
    setting("labels", ("mechanism", "ds,ca"), "mechanism", || json!(["ds", "ca"])),
    setting("labels", ("scale", "a,b,c"), "scale", || json!("a,b,c")).alone(),
    setting("labels", ("min-tasks", "3"), "min_tasks", || json!(3)),
    setting("labels", ("fdr", "0.25"), "fdr", || json!(0.25)),
    setting("labels", ("margin", "0.125"), "margin", || json!(0.125)),
    setting("labels", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("labels", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("labels", ("learn-from", "all"), "learn_from", || json!("all")),
    setting("labels", ("consensus-by", "majority"), "consensus_by", || json!("majority")),
    setting("labels", ("drop-flagged", ""), "drop_flagged", || json!(true))
        .with("--consensus c.csv"),
    setting("labels", ("multi", ""), "multi", || json!(true)),
    setting("labels", ("sampled", "2"), "sampled", || json!(2)),
    setting("labels", ("scoring-function", "scoring.csv"), "scoring_function", || json!("given")),
    setting("labels", ("z-combine", "together"), "z_combine", || json!("together")),
    setting("labels", ("bootstrap", "3"), "bootstrap", || json!(3)),
    setting("labels", ("max-iterations", "4"), "max_iterations", || json!(4)),
    setting("labels", ("seed", "9"), "seed", || json!(9)),
    setting("assumptions", ("bootstrap", "5"), "bootstrap", || json!(5)),
    setting("assumptions", ("duplicates", "first"), "duplicates", || json!("first")),
    setting("assumptions", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("assumptions", ("seed", "9"), "seed", || json!(9)),
    setting("agree", ("scale", "0..2"), "scale", || json!({"range": [0.0, 2.0]})),
    setting("agree", ("outside", "refuse"), "outside", || json!("refuse")),
    setting("agree", ("binarize", "1"), "binarize", || json!(1.0)),
    setting("agree", ("cluster", "topic"), "cluster", || json!("topic")),
    setting("agree", ("gold-by", "each"), "gold_by", || json!("each")).alone(),
    setting("agree", ("compare", "a:D,b:D"), "compare", || json!({"pairs": [["a:D", "b:D"]]})),
    setting("agree", ("alt-test", ""), "alt_test/epsilon", || json!(0.2)).alone(),
    setting("agree", ("alt-test epsilon", "0.1"), "alt_test/epsilon", || json!(0.1))
        .with("--alt-test"),
    setting("agree", ("alt-test closeness", "distance"), "alt_test/closeness", || {
        json!("distance")
    })
    .with("--alt-test"),
    setting("agree", ("alt-test least-items", "3"), "alt_test/least_items", || json!(3))
        .with("--alt-test"),
    setting("agree", ("min-people", "2"), "alt_test/min_people", || json!(2)).with("--alt-test"),
    setting("agree", ("require", "kappa>=-1"), "require/0/metric", || json!("kappa")),
    setting("agree", ("bootstrap", "3"), "draws", || json!(3)),
    setting("agree", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("agree", ("seed", "9"), "seed", || json!(9)),
    setting("agree", ("plan-monitoring", "0.5"), "half_width", || json!(0.5)).alone(),
    setting("agree --runs", ("persistence", "0.5"), "persistence", || json!(0.5)),
    setting(
        "experiment prompts",
        ("scale", "0..2"),
        "agreement/scale",
        || json!({"range": [0.0, 2.0]}),
    ),
    setting("experiment prompts", ("binarize", "1"), "agreement/binarize", || json!(1.0)),
    setting("experiment prompts", ("splits", "3"), "splits", || json!(3)),
    setting("experiment prompts", ("bootstrap", "3"), "agreement/draws", || json!(3)),
    setting("experiment prompts", ("duplicates", "last"), "agreement/duplicates", || json!("last")),
    setting("experiment prompts", ("seed", "9"), "agreement/seed", || json!(9)),
    setting("experiment prompts", ("trials", "1"), "as_z/trials", || json!(1)),
    setting("experiment prompts --model", ("prompt", "twin.toml"), "asked/prompt", || {
        json!("twin.toml")
    }),
    setting("experiment prompts --model", ("features", "A"), "asked/features", || json!("A")),
    setting("experiment prompts --model", ("wordings", "none"), "asked/wordings_of", || {
        json!("none")
    }),
    setting("experiment prompts --model", ("variant", "own.toml"), "asked/variants", || {
        json!(["own.toml"])
    }),
    setting("experiment prompts --model", ("turns", "3"), "asked/turns", || json!(3)),
    setting("experiment prompts --model", ("source", "s"), "asked/source", || json!("s")),
    setting("experiment prompts --model", ("model", "n"), "asked/model", || json!("n")),
    setting("experiment prompts --model", ("temperature", "0.5"), "asked/temperature", || {
        json!(0.5)
    }),
    setting("experiment prompts --model", ("max-tokens", "99"), "asked/max_tokens", || json!(99)),
    setting("experiment prompts --model", ("seed", "9"), "asked/seed", || json!(9)),
    setting("reviews", ("score", "cosine"), "score_asked", || json!(["cosine"])),
    setting("reviews", ("names", "per-paper"), "names", || json!("per-paper")),
    setting("reviews", ("by", "review"), "by", || json!("review")).with("--score own"),
    setting("reviews", ("center", "off"), "center", || json!("off")),
    setting("reviews", ("z-combine", "mean"), "z_combine", || json!("mean")),
    setting("reviews", ("min-papers", "3"), "min_papers", || json!(3)),
    setting("reviews", ("fdr", "0.25"), "fdr", || json!(0.25)),
    setting("reviews", ("margin", "0.125"), "margin", || json!(0.125)),
    setting("reviews", ("min-words", "7"), "min_words", || json!(7)),
    setting("reviews", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("reviews", ("embedder", "tfidf"), "embedder", || json!("tfidf")),
    setting("reviews", ("vectors prompt-name", "query"), "prompt_name", || json!("query"))
        .with(ENCODER),
    setting("reviews", ("vectors precision", "bf16"), "precision", || json!("bf16")).with(ENCODER),
    setting("reviews", ("vectors normalize", ""), "normalize", || json!(true)),
    setting("reviews", ("vectors granularity", "text"), "granularity", || json!("text")),
    setting("reviews", ("vectors long-text", "truncate"), "long_text", || json!("truncate"))
        .with(ENCODER),
    setting("reviews", ("vectors pooling", "cls"), "pooling", || json!("cls")).with(ENCODER),
    setting("reviews", ("vectors aspects-from", TABLE), "aspects_from", || json!(TABLE))
        .with("--embedder aspects"),
    setting("reviews --judge", ("judge", "choice"), "judge/judge", || json!("choice")).alone(),
    setting("reviews --judge", ("judge calibrate", "content-free"), "judge/calibrate", || {
        json!("content-free")
    })
    .with("--judge choice"),
    setting("reviews --judge", ("judge prompt", "judge-rubric"), "judge/prompt", || {
        json!("judge-rubric")
    }),
    setting("reviews --judge", ("judge turns", "3"), "judge/turns", || json!(3)),
    setting("reviews --judge", ("judge proposals", "1"), "judge/proposals", || json!(1)),
    setting("reviews --judge", ("judge feedback", "binary"), "judge/feedback", || json!("binary")),
    setting(
        "reviews --judge",
        ("judge feedback-when", "every-turn"),
        "judge/feedback_when",
        || json!("every-turn"),
    ),
    setting("reviews --judge", ("judge feedback-model", "n"), "judge/feedback_model", || {
        json!("n")
    })
    .with("--judge feedback=textual"),
    setting("reviews --judge", ("model", "n"), "model", || json!("n")),
    setting("reviews --judge", ("temperature", "0.5"), "judge/temperature", || json!(0.5)),
    setting("reviews --judge", ("max-tokens", "99"), "judge/max_tokens", || json!(99)),
    setting("reviews --judge", ("seed", "9"), "judge/seed", || json!(9)),
    setting("embed", ("embedder", "tfidf"), "embedder", || json!("tfidf")),
    setting("embed", ("vectors granularity", "sentence"), "granularity", || json!("sentence")),
    setting("embed", ("vectors long-text", "truncate"), "long_text", || json!("truncate"))
        .with(ENCODER),
    setting("embed", ("vectors pooling", "cls"), "pooling", || json!("cls")).with(ENCODER),
    setting("embed", ("vectors prompt-name", "query"), "prompt_name", || json!("query"))
        .with(ENCODER),
    setting("embed", ("vectors precision", "bf16"), "precision", || json!("bf16")).with(ENCODER),
    setting("embed", ("vectors normalize", ""), "normalize", || json!(true)),
    setting("embed", ("vectors aspects-from", TABLE), "aspects_from", || json!(TABLE))
        .with("--embedder aspects"),
    setting("embed --judge", ("judge", "choice"), "judge/judge", || json!("choice")).alone(),
    setting("embed --judge", ("judge calibrate", "content-free"), "judge/calibrate", || {
        json!("content-free")
    })
    .with("--judge choice"),
    setting("embed --judge", ("judge prompt", "judge-rubric"), "judge/prompt", || {
        json!("judge-rubric")
    }),
    setting("embed --judge", ("judge turns", "3"), "judge/turns", || json!(3)),
    setting("embed --judge", ("judge proposals", "1"), "judge/proposals", || json!(1)),
    setting("embed --judge", ("judge feedback", "binary"), "judge/feedback", || json!("binary")),
    setting("embed --judge", ("judge feedback-when", "every-turn"), "judge/feedback_when", || {
        json!("every-turn")
    }),
    setting("embed --judge", ("judge feedback-model", "n"), "judge/feedback_model", || json!("n"))
        .with("--judge feedback=textual"),
    setting("embed --judge", ("model", "n"), "model", || json!("n")),
    setting("embed --judge", ("temperature", "0.5"), "judge/temperature", || json!(0.5)),
    setting("embed --judge", ("max-tokens", "99"), "judge/max_tokens", || json!(99)),
    setting("embed --judge", ("seed", "9"), "judge/seed", || json!(9)),
    setting("simulate labels", ("crowd z-source", "llama"), "z_source", || json!(["llama"]))
        .with("--crowd copy-z"),
    setting("simulate labels", ("crowd llm-source", "llama"), "llm_source", || json!(["llama"])),
    setting("simulate labels", ("crowd copy-z", ""), "copy_z", || json!(true)),
    setting("simulate labels", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("simulate labels", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("simulate labels", ("crowd llm", ".2"), "llm", || json!(0.2)),
    setting("simulate labels", ("crowd random", ".2"), "random", || json!(0.2)),
    setting("simulate labels", ("crowd biased", ".2"), "biased", || json!(0.2)),
    setting("simulate labels", ("seed", "9"), "seed", || json!(9)),
    setting("simulate reviews", ("venue k", "3"), "k", || json!(3)).alone(),
    setting("simulate reviews", ("venue llm", ".2"), "llm", || json!(0.2)),
    setting("simulate reviews", ("venue off-topic", ".2"), "off_topic", || json!(0.2)),
    setting("simulate reviews", ("venue off-topic-llm", ".2"), "off_topic_llm", || json!(0.2)),
    setting("simulate reviews", ("venue z-source", "b"), "z_source", || json!(["b"])),
    setting("simulate reviews", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("simulate reviews", ("venue reviews-per-paper", "2"), "reviews_per_paper", || json!(2)),
    setting("simulate reviews", ("venue z-coverage", ".5"), "z_coverage", || json!(0.5)),
    setting("simulate reviews", ("venue z-together", ""), "z_together", || json!(true))
        .with("--venue copy-z"),
    setting("simulate reviews", ("venue copy-z", ""), "copy_z", || json!(true)),
    setting("simulate reviews", ("venue reword-copies", ""), "reword_copies", || json!(true)),
    setting("simulate reviews", ("venue polish", ".5"), "rewriting", || json!(["polished", 0.5]))
        .alone(),
    setting("simulate reviews", ("venue formal", ".5"), "rewriting", || json!(["formal", 0.5]))
        .alone(),
    setting("simulate reviews", ("venue shorten", ".5"), "rewriting/1", || json!(0.5)).alone(),
    setting("simulate reviews", ("venue sentences", "1"), "rewriting/0", || json!({"short": 1}))
        .with("--venue shorten=.5"),
    setting("simulate reviews", ("seed", "9"), "seed", || json!(9)),
    setting("simulate crowd", ("crowd workers", "9"), "workers", || json!(9)),
    setting("simulate crowd", ("crowd tasks", "30"), "tasks", || json!(30)),
    setting("simulate crowd", ("crowd labels", "3"), "labels", || json!(3)),
    setting("simulate crowd", ("crowd workers-per-task", "3"), "workers_per_task", || json!(3)),
    setting("simulate crowd", ("crowd human-accuracy", ".5"), "human_accuracy", || json!(0.5)),
    setting("simulate crowd", ("crowd llm-accuracy", ".5"), "llm_accuracy", || json!(0.5)),
    setting("simulate crowd", ("crowd confusion", "confusion.json"), "human", || {
        json!([[0.75, 0.25], [0.25, 0.75]])
    })
    .alone(),
    setting("simulate crowd", ("crowd llm-consistency", ".5"), "llm_consistency", || json!(0.5)),
    setting("simulate crowd", ("crowd llm", ".5"), "llm", || json!(0.5)),
    setting("simulate crowd", ("crowd lazy", ".5"), "lazy", || json!(0.5)),
    setting("simulate crowd", ("seed", "9"), "seed", || json!(9)),
    setting("experiment detection", ("crowd z-source", "llama"), "z_source", || json!(["llama"]))
        .with("--crowd llm-source=gpt"),
    setting("experiment detection", ("crowd llm-source", "llama"), "llm_source", || {
        json!(["llama"])
    }),
    setting("experiment detection", ("crowd copy-z", ""), "copy_z", || json!(true)),
    setting("experiment detection", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment detection", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("experiment detection", ("trials", "2"), "trials", || json!(2)),
    setting("experiment detection", ("mechanism", "neg_z"), "mechanism", || json!(["neg_z"])),
    setting("experiment detection", ("crowd others", ".1"), "others", || json!(0.1)),
    setting("experiment detection", ("crowd llm", ".3"), "llm_shares", || json!([0.3])),
    setting("experiment detection", ("seed", "9"), "seed", || json!(9)),
    setting("experiment sample-size", ("crowd z-source", "llama"), "z_source", || json!(["llama"]))
        .with("--crowd llm-source=gpt"),
    setting("experiment sample-size", ("crowd llm-source", "llama"), "llm_source", || {
        json!(["llama"])
    }),
    setting("experiment sample-size", ("crowd copy-z", ""), "copy_z", || json!(true)),
    setting("experiment sample-size", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment sample-size", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("experiment sample-size", ("trials", "2"), "trials", || json!(2)),
    setting("experiment sample-size", ("mechanism", "neg_z"), "mechanism", || json!(["neg_z"])),
    setting("experiment sample-size", ("crowd others", ".1"), "others", || json!(0.1)),
    setting("experiment sample-size", ("crowd llm", ".3"), "llm_shares", || json!([0.3])),
    setting("experiment sample-size", ("crowd coverage", ".5"), "coverage", || json!([0.5])),
    setting("experiment sample-size", ("seed", "9"), "seed", || json!(9)),
    setting("experiment multi-llm", ("crowd z-source", "llama,gpt"), "z_source", || {
        json!(["llama", "gpt"])
    }),
    setting("experiment multi-llm", ("crowd llm-source", "gpt,llama"), "llm_source", || {
        json!(["gpt", "llama"])
    })
    .with("--crowd copy-z"),
    setting("experiment multi-llm", ("crowd copy-z", ""), "copy_z", || json!(true)),
    setting("experiment multi-llm", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment multi-llm", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("experiment multi-llm", ("trials", "2"), "trials", || json!(2)),
    setting("experiment multi-llm", ("mechanism", "neg_z"), "mechanism", || json!(["neg_z"])),
    setting("experiment multi-llm", ("crowd others", ".1"), "others", || json!(0.1)),
    setting("experiment multi-llm", ("crowd llm", ".3"), "llm_shares", || json!([0.3])),
    setting("experiment multi-llm", ("seed", "9"), "seed", || json!(9)),
    setting("experiment reviews", ("venue k", "3"), "k", || json!([3])).alone(),
    setting("experiment reviews", ("trials", "2"), "trials", || json!(2)),
    setting("experiment reviews", ("score", "cosine"), "scores", || json!(["cosine"])),
    setting("experiment reviews", ("venue share", ".2"), "shares", || json!([0.0, 0.2])),
    setting("experiment reviews", ("venue half", "first"), "half", || json!("first")).alone(),
    setting("experiment reviews", ("venue z-source", "b"), "z_source", || json!("b")),
    setting("experiment reviews", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment reviews", ("venue reviews-per-paper", "2"), "reviews_per_paper", || {
        json!(2)
    }),
    setting("experiment reviews", ("venue z-coverage", ".5"), "z_coverage", || json!(0.5)),
    setting("experiment reviews", ("venue z-together", ""), "z_together", || json!(true))
        .with("--venue copy-z"),
    setting("experiment reviews", ("venue copy-z", ""), "copy_z", || json!(true)),
    setting("experiment reviews", ("venue reword-copies", ""), "reword_copies", || json!(true)),
    setting("experiment reviews", ("venue polish", ".5"), "rewriting", || json!(["polished", 0.5]))
        .alone(),
    setting("experiment reviews", ("venue formal", ".5"), "rewriting", || json!(["formal", 0.5]))
        .alone(),
    setting("experiment reviews", ("venue shorten", ".5"), "rewriting/1", || json!(0.5)).alone(),
    setting("experiment reviews", ("venue sentences", "1"), "rewriting/0", || json!({"short": 1}))
        .with("--venue shorten=.5"),
    setting("experiment reviews", ("seed", "9"), "seed", || json!(9)),
    setting("experiment reviews", ("embedder", "tfidf"), "embedding/embedder", || json!("tfidf")),
    setting(
        "experiment reviews",
        ("vectors prompt-name", "query"),
        "embedding/prompt_name",
        || json!("query"),
    )
    .with(ENCODER),
    setting("experiment reviews", ("vectors precision", "bf16"), "embedding/precision", || {
        json!("bf16")
    })
    .with(ENCODER),
    setting("experiment reviews", ("vectors normalize", ""), "embedding/normalize", || json!(true)),
    setting("experiment reviews", ("vectors granularity", "text"), "embedding/granularity", || {
        json!("text")
    }),
    setting("experiment reviews", ("vectors long-text", "truncate"), "embedding/long_text", || {
        json!("truncate")
    })
    .with(ENCODER),
    setting("experiment reviews", ("vectors pooling", "cls"), "embedding/pooling", || json!("cls"))
        .with(ENCODER),
    setting(
        "experiment reviews",
        ("vectors aspects-from", TABLE),
        "embedding/aspects_from",
        || json!(TABLE),
    )
    .with("--embedder aspects"),
    setting("experiment reviews --judge", ("judge", "choice"), "embedding/judge/judge", || {
        json!("choice")
    })
    .alone(),
    setting(
        "experiment reviews --judge",
        ("judge calibrate", "content-free"),
        "embedding/judge/calibrate",
        || json!("content-free"),
    )
    .with("--judge choice"),
    setting(
        "experiment reviews --judge",
        ("judge prompt", "judge-rubric"),
        "embedding/judge/prompt",
        || json!("judge-rubric"),
    ),
    setting("experiment reviews --judge", ("judge turns", "3"), "embedding/judge/turns", || {
        json!(3)
    }),
    setting(
        "experiment reviews --judge",
        ("judge proposals", "1"),
        "embedding/judge/proposals",
        || json!(1),
    ),
    setting(
        "experiment reviews --judge",
        ("judge feedback", "binary"),
        "embedding/judge/feedback",
        || json!("binary"),
    ),
    setting(
        "experiment reviews --judge",
        ("judge feedback-when", "every-turn"),
        "embedding/judge/feedback_when",
        || json!("every-turn"),
    ),
    setting(
        "experiment reviews --judge",
        ("judge feedback-model", "n"),
        "embedding/judge/feedback_model",
        || json!("n"),
    )
    .with("--judge feedback=textual"),
    setting("experiment reviews --judge", ("model", "n"), "embedding/model", || json!("n")),
    setting(
        "experiment reviews --judge",
        ("temperature", "0.5"),
        "embedding/judge/temperature",
        || json!(0.5),
    ),
    setting(
        "experiment reviews --judge",
        ("max-tokens", "99"),
        "embedding/judge/max_tokens",
        || json!(99),
    ),
    setting("experiment reviews --judge", ("seed", "9"), "embedding/judge/seed", || json!(9)),
    setting("experiment embeddings", ("trials", "2"), "trials", || json!(2)),
    setting("experiment embeddings", ("score", "cosine"), "scores", || json!(["cosine"])),
    setting("experiment embeddings", ("venue half", "first"), "half", || json!("first")).alone(),
    setting("experiment embeddings", ("venue z-source", "b"), "z_source", || json!("b")),
    setting("experiment embeddings", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment embeddings", ("venue reviews-per-paper", "2"), "reviews_per_paper", || {
        json!(2)
    }),
    setting("experiment embeddings", ("venue z-coverage", ".5"), "z_coverage", || json!(0.5)),
    setting("experiment embeddings", ("venue z-together", ""), "z_together", || json!(true))
        .with("--venue copy-z"),
    setting("experiment embeddings", ("venue copy-z", ""), "copy_z", || json!(true)),
    setting("experiment embeddings", ("venue reword-copies", ""), "reword_copies", || json!(true)),
    setting("experiment embeddings", ("venue polish", ".5"), "rewriting", || {
        json!(["polished", 0.5])
    })
    .alone(),
    setting("experiment embeddings", ("venue formal", ".5"), "rewriting", || {
        json!(["formal", 0.5])
    })
    .alone(),
    setting("experiment embeddings", ("venue shorten", ".5"), "rewriting/1", || json!(0.5)).alone(),
    setting(
        "experiment embeddings",
        ("venue sentences", "1"),
        "rewriting/0",
        || json!({"short": 1}),
    )
    .with("--venue shorten=.5"),
    setting("experiment embeddings", ("seed", "9"), "seed", || json!(9)),
    setting("experiment embeddings", ("embedder", "static"), "embedders", || json!(["static"])),
    setting(
        "experiment embeddings",
        ("vectors prompt-name", "query"),
        "embedding/prompt_name",
        || json!("query"),
    )
    .with(ENCODER),
    setting("experiment embeddings", ("vectors precision", "bf16"), "embedding/precision", || {
        json!("bf16")
    })
    .with(ENCODER),
    setting("experiment embeddings", ("vectors normalize", ""), "embedding/normalize", || {
        json!(true)
    }),
    setting(
        "experiment embeddings",
        ("vectors granularity", "text"),
        "embedding/granularity",
        || json!("text"),
    ),
    setting(
        "experiment embeddings",
        ("vectors long-text", "truncate"),
        "embedding/long_text",
        || json!("truncate"),
    )
    .with(ENCODER),
    setting("experiment embeddings", ("vectors pooling", "cls"), "embedding/pooling", || {
        json!("cls")
    })
    .with(ENCODER),
    setting(
        "experiment embeddings",
        ("vectors aspects-from", TABLE),
        "embedding/aspects_from",
        || json!(TABLE),
    )
    .with("--embedder aspects"),
    setting(
        "experiment embeddings --judge",
        ("judge", "choice"),
        "embedded/judge/judge/judge",
        || json!("choice"),
    )
    .alone(),
    setting(
        "experiment embeddings --judge",
        ("judge calibrate", "content-free"),
        "embedded/judge/judge/calibrate",
        || json!("content-free"),
    )
    .with("--judge choice"),
    setting(
        "experiment embeddings --judge",
        ("judge prompt", "judge-rubric"),
        "embedded/judge/judge/prompt",
        || json!("judge-rubric"),
    ),
    setting(
        "experiment embeddings --judge",
        ("judge turns", "3"),
        "embedded/judge/judge/turns",
        || json!(3),
    ),
    setting(
        "experiment embeddings --judge",
        ("judge proposals", "1"),
        "embedded/judge/judge/proposals",
        || json!(1),
    ),
    setting(
        "experiment embeddings --judge",
        ("judge feedback", "binary"),
        "embedded/judge/judge/feedback",
        || json!("binary"),
    ),
    setting(
        "experiment embeddings --judge",
        ("judge feedback-when", "every-turn"),
        "embedded/judge/judge/feedback_when",
        || json!("every-turn"),
    ),
    setting(
        "experiment embeddings --judge",
        ("judge feedback-model", "n"),
        "embedded/judge/judge/feedback_model",
        || json!("n"),
    )
    .with("--judge feedback=textual"),
    setting("experiment embeddings --judge", ("model", "n"), "embedded/judge/model", || json!("n")),
    setting(
        "experiment embeddings --judge",
        ("temperature", "0.5"),
        "embedded/judge/judge/temperature",
        || json!(0.5),
    ),
    setting(
        "experiment embeddings --judge",
        ("max-tokens", "99"),
        "embedded/judge/judge/max_tokens",
        || json!(99),
    ),
    setting("experiment embeddings --judge", ("seed", "9"), "embedded/judge/judge/seed", || {
        json!(9)
    }),
    setting("annotate labels", ("prompt", "label-preference"), "prompt", || {
        json!("label-preference")
    })
    .alone(),
    setting("annotate labels", ("task", "task.toml --prompt label-generic"), "task", || {
        json!("task.toml")
    })
    .alone(),
    setting("annotate labels", ("question", "toxic"), "question", || json!("toxic")),
    setting("annotate labels", ("samples", "2"), "samples", || json!(2)),
    setting("annotate labels", ("turns", "3"), "turns", || json!(3)),
    setting("annotate labels", ("source", "s"), "source", || json!("s")),
    setting("annotate labels", ("model", "n"), "model", || json!("n")),
    setting("annotate labels", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("annotate labels", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("annotate labels", ("seed", "9"), "seed", || json!(9)),
    setting("annotate reviews", ("prompt", "review-2"), "prompts", || json!(["review-2"])),
    setting("annotate reviews", ("samples", "2"), "samples", || json!(2)),
    setting("annotate reviews", ("source", "s"), "source", || json!("s")),
    setting("annotate reviews", ("model", "n"), "model", || json!("n")),
    setting("annotate reviews", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("annotate reviews", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("annotate reviews", ("seed", "9"), "seed", || json!(9)),
    setting("annotate reviews", ("paper-from", "title"), "paper_from", || json!("title")),
    setting("annotate reviews", ("keep", ""), "keep", || json!(true)),
    setting("annotate answers", ("prompt", "answer-2"), "prompts", || json!(["answer-2"])),
    setting("annotate answers", ("samples", "2"), "samples", || json!(2)),
    setting("annotate answers", ("source", "s"), "source", || json!("s")),
    setting("annotate answers", ("model", "n"), "model", || json!("n")),
    setting("annotate answers", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("annotate answers", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("annotate answers", ("seed", "9"), "seed", || json!(9)),
    setting("annotate judgments", ("rubric", "crowd-answers"), "rubric", || json!("crowd-answers"))
        .alone(),
    setting("annotate judgments", ("feedback-gold", ""), "feedback_gold", || json!(true))
        .with("--gold known.jsonl --judge feedback=binary"),
    setting("annotate judgments", ("judge", "choice"), "judge", || json!("choice")).alone(),
    setting("annotate judgments", ("judge calibrate", "content-free"), "calibrate", || {
        json!("content-free")
    })
    .with("--judge choice"),
    setting("annotate judgments", ("judge prompt", "judge-rubric"), "prompt", || {
        json!("judge-rubric")
    }),
    setting("annotate judgments", ("judge turns", "3"), "turns", || json!(3)),
    setting("annotate judgments", ("judge proposals", "1"), "proposals", || json!(1)),
    setting("annotate judgments", ("judge feedback", "binary"), "feedback", || json!("binary")),
    setting("annotate judgments", ("judge feedback-when", "every-turn"), "feedback_when", || {
        json!("every-turn")
    }),
    setting("annotate judgments", ("judge feedback-model", "n"), "feedback_model", || json!("n"))
        .with("--judge feedback=textual"),
    setting("annotate judgments", ("model", "n"), "model", || json!("n")),
    setting("annotate judgments", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("annotate judgments", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("annotate judgments", ("seed", "9"), "seed", || json!(9)),
    setting("experiment judges", ("method", "j"), "methods", || json!(["j"])).alone(),
    setting("experiment judges", ("against", "j"), "against", || json!(["j"])).alone(),
    setting("experiment judges", ("cluster", "item"), "cluster", || json!("item")),
    setting("experiment judges", ("bootstrap", "3"), "draws", || json!(3)),
    setting("experiment judges", ("seed", "9"), "seed", || json!(9)),
    setting("experiment feedback", ("by", "task"), "by", || json!("task")),
    setting("experiment feedback", ("bootstrap", "3"), "draws", || json!(3)),
    setting("experiment feedback", ("seed", "9"), "seed", || json!(9)),
    setting("experiment own", ("scenario", "share"), "scenario", || json!(["share"])).alone(),
    setting("experiment own", ("trials", "2"), "trials", || json!(2)),
    setting("experiment own", ("fdr", ".2"), "fdr", || json!([0.2])),
    setting("experiment own", ("venue half", "first"), "half", || json!("first")),
    setting("experiment own", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment own", ("seed", "9"), "seed", || json!(9)),
    setting("experiment own-labels", ("crowd share", ".5"), "share", || json!(0.5)),
    setting("experiment own-labels", ("trials", "2"), "trials", || json!(2)),
    setting("experiment own-labels", ("fdr", ".2"), "fdr", || json!(0.2)),
    setting("experiment own-labels", ("min-tasks", "3"), "min_tasks", || json!(3)),
    setting("experiment own-labels", ("duplicates", "last"), "duplicates", || json!("last")),
    setting("experiment own-labels", ("exact-labels", ""), "exact_labels", || json!(true)),
    setting("experiment own-labels", ("seed", "9"), "seed", || json!(9)),
    setting("experiment judges --model", ("ways", "more,samre"), "methods", || {
        json!(["more", "samre"])
    }),
    setting("experiment judges --model", ("jury", ""), "jury", || json!(true)),
    setting("experiment judges --model", ("personas", "two.toml"), "personas", || {
        json!("two.toml")
    }),
    setting("experiment judges --model", ("judge quorum", "2"), "quorum", || json!(2)),
    setting("experiment judges --model", ("criteria", "reviews"), "criteria", || json!("reviews"))
        .alone(),
    setting("experiment judges --model", ("judge prompts", "."), "prompts", || json!(".")).alone(),
    setting("experiment judges --model", ("judge one-order", ""), "both_orders", || json!(false)),
    setting("experiment judges --model", ("judge advocates", "2"), "advocates", || json!(2)),
    setting("experiment judges --model", ("rounds", "3"), "rounds", || json!(3)),
    setting("experiment judges --model", ("stop", "gap"), "stop", || json!("gap")),
    setting("experiment judges --model", ("judge gap", "3"), "gap", || json!(3.0)),
    setting("experiment judges --model", ("judge turns", "2"), "turns", || json!(2)),
    setting("experiment judges --model", ("judge advocate-model", "k"), "advocate_model", || {
        json!("k")
    }),
    setting("experiment judges --model", ("judge judge-model", "l"), "judge_model", || json!("l")),
    setting("experiment judges --model", ("judge juror-model", "o"), "juror_model", || json!("o")),
    setting("experiment judges --model", ("model", "n"), "model", || json!("n")),
    setting("experiment judges --model", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("experiment judges --model", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("experiment judges --model", ("seed", "9"), "seed", || json!(9)),
    setting("judge", ("method", "more,samre"), "methods", || json!(["more", "samre"])),
    setting("judge", ("jury", ""), "jury", || json!(true)),
    setting("judge", ("personas", "two.toml"), "personas", || json!("two.toml")),
    setting("judge", ("judge quorum", "2"), "quorum", || json!(2)),
    setting("judge", ("criteria", "reviews"), "criteria", || json!("reviews")).alone(),
    setting("judge", ("judge prompts", "."), "prompts", || json!(".")).alone(),
    setting("judge", ("judge one-order", ""), "both_orders", || json!(false)),
    setting("judge", ("judge advocates", "2"), "advocates", || json!(2)),
    setting("judge", ("rounds", "3"), "rounds", || json!(3)),
    setting("judge", ("stop", "gap"), "stop", || json!("gap")),
    setting("judge", ("judge gap", "3"), "gap", || json!(3.0)),
    setting("judge", ("judge turns", "2"), "turns", || json!(2)),
    setting("judge", ("judge advocate-model", "k"), "advocate_model", || json!("k")),
    setting("judge", ("judge judge-model", "l"), "judge_model", || json!("l")),
    setting("judge", ("judge juror-model", "o"), "juror_model", || json!("o")),
    setting("judge", ("model", "n"), "model", || json!("n")),
    setting("judge", ("temperature", "0.5"), "temperature", || json!(0.5)),
    setting("judge", ("max-tokens", "99"), "max_tokens", || json!(99)),
    setting("judge", ("seed", "9"), "seed", || json!(9)),
];
