//! What is damaged at random is understood or refused: it never ends the program, takes no memory
//! that a file only claims, and comes to an end.
//!
//! Seeded, with a fixed number of cases. Importers have tests of their own beside them.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use caz::for_tests::stream;

#[cfg(feature = "llm")]
mod prompts {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use caz::for_tests::Rubric;
    use caz::for_tests::{Prompt, Task, parse_verdict};

    use super::*;

    /// What breaks parsers: marks of the formats, numbers at the edge, characters without a shape.
    const HOSTILE: [&str; 22] = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        ":",
        ",",
        "{{",
        "{%",
        "%}",
        "null",
        "-1",
        "1e999",
        "18446744073709551616",
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "```",
        "<think>",
        "\n",
    ];

    /// `text` with a few pieces removed, repeated, swapped or replaced by what breaks parsers.
    fn damaged(text: &str, random: &mut ChaCha8Rng) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..random.random_range(1..=4) {
            let from = random.random_range(0..=chars.len());
            let to = (from + random.random_range(0..=12)).min(chars.len());
            match random.random_range(0..4) {
                0 => drop(chars.drain(from..to)),
                1 => {
                    let again: Vec<char> = chars[from..to].repeat(random.random_range(1..=3));
                    chars.splice(to..to, again);
                }
                2 => chars[from..to].reverse(),
                _ => {
                    let hostile = HOSTILE.choose(random).expect("the list has entries");
                    chars.splice(from..to, hostile.chars());
                }
            }
        }
        chars.into_iter().collect()
    }

    fn rendered(prompt: &Prompt) -> Result<usize, String> {
        let texts: BTreeMap<String, String> =
            prompt.variables().keys().map(|name| (name.clone(), "a text".to_owned())).collect();
        let messages = prompt.render(&texts, &Task::default()).map_err(|error| {
            let first: &dyn std::error::Error = &error;
            let causes = std::iter::successors(Some(first), |error| error.source());
            causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        })?;
        Ok(messages.iter().map(|message| message.content.len()).sum())
    }

    #[test]
    fn damaged_prompts_are_refused_or_render() {
        let (mut refused, mut rendered_some) = (0, 0);
        for (number, name) in (0..).zip(Prompt::built_in_names()) {
            let source = Prompt::load(name).unwrap().source().to_owned();
            let mut random = stream(12, "prompts", number);
            for _ in 0..60 {
                let text = damaged(&source, &mut random);
                match Prompt::parse("damaged", &text).map_err(|error| error.to_string()) {
                    Ok(prompt) if rendered(&prompt).is_ok() => rendered_some += 1,
                    _ => refused += 1,
                }
            }
        }
        assert!(refused > 50 && rendered_some > 50, "{refused} {rendered_some}");
    }

    #[test]
    fn templates_without_an_end_run_out_of_steps() {
        let source = Prompt::load("label-generic").unwrap().source().to_owned();
        let (head, _) = source.split_once("user = ").unwrap();
        let times = "{% for i in range(9999) %}{% for j in range(9999) %}";
        let ends = "{% endfor %}{% endfor %}";
        for (template, says) in [
            (format!("{times}{ends}"), "fuel"),
            (format!("{times}{{{{ i }}}}{ends}"), "fuel"),
            (
                format!("{{% for i in range(9999) %}}{}{{% endfor %}}", "x".repeat(9999)),
                "more than",
            ),
            ("{{ 'x' * 99999999999 }}".into(), "too large"),
        ] {
            let text = format!("{head}user = \"\"\"{{{{ fence_note }}}}{template}\"\"\"\n");
            let prompt = Prompt::parse("endless", &text).unwrap();
            let begun = Instant::now();
            let error = rendered(&prompt).unwrap_err();
            assert!(error.contains(says), "{template:.60}: {error}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{template:.60}");
        }
    }

    #[test]
    fn damaged_rubrics_are_refused_or_usable() {
        let source = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/prompts/rubrics/crowd-answers.toml"
        ));
        let mut random = stream(12, "rubrics", 0);
        let usable = (0..200)
            .filter(|_| Rubric::parse("damaged", &damaged(source, &mut random)).is_ok())
            .count();
        assert!((1..200).contains(&usable), "{usable}");
    }

    #[test]
    fn damaged_answers_are_read_as_values_of_the_rubric_or_not_at_all() {
        let rubric = Rubric::load("aspects19").unwrap();
        let fields: Vec<String> =
            rubric.categories().map(|name| format!("\"{name}\": -1")).collect();
        let answer = format!("Here it is:\n```json\n{{{}}}\n```", fields.join(", "));
        let mut random = stream(12, "answers", 0);
        let (mut read, mut refused) = (0, 0);
        for _ in 0..400 {
            let text = damaged(&answer, &mut random);
            match parse_verdict(&text, rubric.fields()) {
                Ok(verdict) => {
                    let numbers = verdict.numbers().unwrap();
                    assert_eq!(numbers.len(), fields.len());
                    assert!(numbers.iter().all(|n| [-1.0, 0.0, 1.0].contains(n)), "{text}");
                    read += 1;
                }
                Err(problems) => {
                    assert!(!problems.is_empty());
                    refused += 1;
                }
            }
        }
        assert!(read > 5 && refused > 20, "{read} {refused}");
    }
}

#[cfg(feature = "bert")]
mod models {
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    use caz::for_tests::{BertEmbedder, BertOptions, Embedder, NoProgress};
    use serde_json::{Value, json};

    use super::*;

    const TINY: [&str; 6] =
        ["bert", "distilbert", "modernbert", "nomic_bert", "qwen3", "xlm-roberta"];

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let target = to.join(path.file_name().unwrap());
            if path.is_dir() {
                copy(&path, &target);
            } else {
                fs::copy(path, target).unwrap();
            }
        }
    }

    fn tiny(name: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny");
        copy(&golden.join(name), folder.path());
        folder
    }

    /// Whether the folder is a model that embeds a text.
    fn works(folder: &Path) -> bool {
        BertEmbedder::load(folder, "tiny", BertOptions::default())
            .is_ok_and(|model| model.embed(&["a b c"], &NoProgress).is_ok())
    }

    /// Sizes that no model has, and values that are none.
    fn absurd(random: &mut ChaCha8Rng) -> Value {
        let values = [
            json!(0),
            json!(1),
            json!(-1),
            json!(0.5),
            json!(3),
            json!(1_000_003),
            json!(1_u64 << 40),
            json!(u64::MAX),
            json!(1e300),
            json!("x"),
            Value::Null,
            json!([]),
            json!({}),
            json!(true),
        ];
        values.choose(random).expect("the list has entries").clone()
    }

    #[test]
    fn models_of_absurd_sizes_are_refused_before_memory_is_taken() {
        let (mut refused, mut worked) = (0, 0);
        for (number, name) in (0..).zip(TINY) {
            let folder = tiny(name);
            assert!(works(folder.path()), "{name}");
            let path = folder.path().join("config.json");
            let whole: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let keys: Vec<&String> = whole.as_object().unwrap().keys().collect();
            let mut random = stream(12, "configs", number);
            for _ in 0..60 {
                let mut config = whole.clone();
                for _ in 0..random.random_range(1..=2) {
                    let key = keys.choose(&mut random).expect("a configuration has keys");
                    config[key.as_str()] = absurd(&mut random);
                }
                fs::write(&path, config.to_string()).unwrap();
                if works(folder.path()) { worked += 1 } else { refused += 1 }
            }
        }
        assert!(refused > 40 && worked > 40, "{refused} {worked}");
    }

    #[test]
    fn damaged_weights_and_their_tables_of_contents_are_refused_or_read() {
        let folder = tiny("modernbert");
        let path = folder.path().join("model.safetensors");
        let whole = fs::read(&path).unwrap();
        let mut random = stream(12, "weights", 0);
        let header =
            8 + usize::try_from(u64::from_le_bytes(whole[..8].try_into().unwrap())).unwrap();
        let mut refused = 0;
        for _ in 0..80 {
            let mut bytes = whole.clone();
            for _ in 0..random.random_range(1..=3) {
                let at = random.random_range(0..header);
                bytes[at] = *b"0123456789[]{},:\"\xff\x00".choose(&mut random).unwrap();
            }
            if random.random_range(0..4) == 0 {
                bytes.truncate(random.random_range(0..bytes.len()));
            }
            fs::write(&path, bytes).unwrap();
            refused += usize::from(!works(folder.path()));
        }
        assert!(refused > 40, "{refused}");
        // A header that claims most of a file of a terabyte, none of which is on the disk.
        let mut file = fs::File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        file.write_all(&(1_u64 << 39).to_le_bytes()).unwrap();
        assert!(!works(folder.path()));
    }
}
