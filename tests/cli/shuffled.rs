//! The order of the rows of a file changes nothing but the order of what is tied.

use std::collections::BTreeMap;

use super::{Folder, sample};

/// The header first, then the rows in another order, the same for the same seed.
fn shuffled(text: &str, header: bool, seed: u64) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let first = usize::from(header);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in (first + 1..lines.len()).rev() {
        // Xorshift64 (Marsaglia 2003), good enough to mix rows.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = first + usize::try_from(state % (at - first + 1) as u64).unwrap();
        lines.swap(at, other);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Cells by everything that is no number, numbers as numbers.
fn cells(rows: &[Vec<String>]) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut by_name: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for row in rows {
        by_name.entry(row[..2.min(row.len())].join("|")).or_default().push(row.clone());
    }
    by_name.values_mut().for_each(|rows| rows.sort());
    by_name
}

#[track_caller]
fn assert_same(a: &[Vec<String>], b: &[Vec<String>], what: &str) {
    let (a, b) = (cells(a), cells(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{what}");
    for (name, rows) in &a {
        for (x, y) in rows.iter().flatten().zip(b[name].iter().flatten()) {
            let same = match (x.parse::<f64>(), y.parse::<f64>()) {
                (Ok(x), Ok(y)) => (x - y).abs() <= 1e-12 * x.abs().max(1.0),
                _ => x == y,
            };
            assert!(same, "{what}, {name}: {x} and {y}");
        }
    }
}

/// Three samples of one model that disagree in places, in a file whose first row is of the last.
fn z_with_samples(labels: &str) -> String {
    let mut rows = String::from("task,label,source,sample\n");
    let mut tasks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in labels.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        tasks.entry(cells[0]).or_default().push(cells[2]);
    }
    for (number, (task, labels)) in tasks.iter().enumerate() {
        for sample in [10, 9, 2] {
            // Now and then a sample is missing, so that another one stands in.
            if (number + sample) % 7 != 0 {
                let label = labels[(number * sample + sample) % labels.len()];
                rows.push_str(&format!("{task},{label},gpt,{sample}\n"));
            }
        }
    }
    rows
}

#[test]
fn labels_score_alike_in_any_order() {
    let folder = Folder::new();
    let labels = std::fs::read_to_string(sample("labels.csv")).unwrap();
    let z = z_with_samples(&labels);
    for command in ["labels", "assumptions"] {
        let run = |seed: Option<u64>| {
            let mix = |text: &str| seed.map_or(text.to_owned(), |seed| shuffled(text, true, seed));
            folder.write("l.csv", mix(&labels));
            folder.write("z.csv", mix(&z));
            let mut arguments = vec![command, "l.csv", "--z", "z.csv", "--format", "csv"];
            if command == "labels" {
                arguments.extend(["--mechanism", "all"]);
            }
            folder.caz(&arguments).succeeded().csv()
        };
        let plain = run(None);
        for seed in 1..4 {
            assert_same(&plain, &run(Some(seed)), command);
        }
    }
}

#[test]
fn reviews_score_alike_in_any_order() {
    let folder = Folder::new();
    let reviews = std::fs::read_to_string(sample("reviews.jsonl")).unwrap();
    let z = std::fs::read_to_string(sample("llm-reviews.jsonl")).unwrap();
    for more in [&["--score", "all"][..], &["--score", "all", "--embedder", "tfidf"]] {
        let run = |seed: Option<u64>| {
            let mix = |text: &str| seed.map_or(text.to_owned(), |seed| shuffled(text, false, seed));
            folder.write("r.jsonl", mix(&reviews));
            folder.write("z.jsonl", mix(&z));
            let arguments = ["reviews", "r.jsonl", "--z", "z.jsonl", "--format", "csv"];
            folder.caz(&[&arguments[..], more].concat()).succeeded().csv()
        };
        let plain = run(None);
        for seed in 1..3 {
            assert_same(&plain, &run(Some(seed)), &more.join(" "));
        }
    }
}

/// Two labellers and people on 12 tasks, lengths, and two scores of runs.
fn labellers(folder: &Folder) {
    let mut given = String::from("task,source,prompt,label\n");
    let mut gold = String::from("task,worker,label\n");
    let mut lengths = String::from("task,length\n");
    let mut runs = String::from("year,run,people,llm\n");
    for task in 0..12 {
        for (source, shift) in [("a", 0), ("b", 1)] {
            let label = (task + shift * (task / 3)) % 3;
            given.push_str(&format!("q{task},{source},D,{label}\n"));
        }
        for (worker, label) in [("x", task % 3), ("y", task % 3), ("z", (task / 2) % 3)] {
            gold.push_str(&format!("q{task},{worker},{label}\n"));
        }
        lengths.push_str(&format!("q{task},{}\n", 10 + task * task % 7));
        runs.push_str(&format!("1,r{task},{},{}\n", task * 5 % 12, task * 7 % 12));
    }
    folder.write("given.csv", given);
    folder.write("gold.csv", gold);
    folder.write("lengths.csv", lengths);
    folder.write("runs.csv", runs);
}

#[test]
fn every_other_command_says_the_same_in_any_order() {
    let folder = Folder::new();
    super::simulate::crowd(&folder);
    super::combined::crowd(&folder);
    labellers(&folder);
    for arguments in [
        "agree given.csv --gold gold.csv --bootstrap 20 --compare all",
        "agree --runs runs.csv --bootstrap 20",
        "experiment prompts given.csv --gold gold.csv --lengths lengths.csv --bootstrap 20 --splits 5",
        "experiment detection labels.csv --z z.csv --crowd z-source=gpt --trials 1 --crowd llm=.2",
        "experiment sample-size labels.csv --z z.csv --crowd z-source=gpt --trials 1 --crowd coverage=.5",
        "experiment multi-llm labels.csv --z z.csv --crowd copy-z --trials 1 --crowd llm=.2",
        "experiment reviews r.jsonl --z z.jsonl --venue k=2 --trials 1 --score all",
        "simulate labels labels.csv --z z.csv --crowd z-source=gpt,llm=.2,random=.1 --output new",
        "simulate reviews r.jsonl --z z.jsonl --venue k=2,llm=.2,off-topic=.1 --output new",
    ] {
        let words: Vec<&str> = arguments.split(' ').chain(["--format", "csv"]).collect();
        let is_table = |word: &str| word.strip_suffix(".csv").is_some();
        let is_file = |word: &&str| is_table(word) || word.strip_suffix(".jsonl").is_some();
        let files: Vec<(&str, String)> = words
            .iter()
            .copied()
            .filter(is_file)
            .map(|name| (name, std::fs::read_to_string(folder.path(name)).unwrap()))
            .collect();
        let run = || {
            let rows = folder.caz(&words).succeeded().csv();
            let made = std::fs::read_dir(folder.path("new")).into_iter().flatten();
            let made: BTreeMap<_, _> = made
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
                .collect();
            (rows, made)
        };
        let (rows, made) = run();
        for seed in 1..3 {
            for (name, text) in &files {
                folder.write(name, shuffled(text, is_table(name), seed));
            }
            let (other_rows, other_made) = run();
            assert_same(&rows, &other_rows, arguments);
            assert_eq!(made, other_made, "{arguments}");
        }
        for (name, text) in &files {
            folder.write(name, text);
        }
        if !made.is_empty() {
            std::fs::remove_dir_all(folder.path("new")).unwrap();
        }
    }
}

/// Verdicts of three judges in both orders with their costs, pairs with votes and lengths, clusters,
/// and runs with and without feedback.
fn recorded(folder: &Folder) {
    let mut verdicts = String::from("item,judge,order,winner,tokens,seconds\n");
    let mut pairs = String::from("item,a,b,gold\n");
    let mut clusters = String::from("item,cluster\n");
    let mut feedback = String::from("provider,feedback,max_turns,item,success\n");
    for item in 0..15_usize {
        for (number, judge) in ["single", "more", "gpt-4"].iter().enumerate() {
            for (place, order) in ["ab", "ba"].iter().enumerate() {
                let winner = ["a", "b", "tie", ""][(item * (number + 2) + place * item / 3) % 4];
                // Sums of such costs differ in their last digits with the order of adding.
                let (tokens, seconds) = (100 + item * 7, 0.1 * (item + number + place) as f64);
                verdicts += &format!("{item},{judge},{order},{winner},{tokens},{seconds}\n");
            }
        }
        let (a, b) = ("word ".repeat(1 + item % 5), "word ".repeat(1 + item % 3));
        for vote in 0..3 {
            let gold = ["a", "b", "a", "tie"][(item + vote * item) % 4];
            pairs += &format!("{item},{a},{b},{gold}\n");
        }
        clusters += &format!("{item},c{}\n", item % 4);
        for turns in 1..4_usize {
            let (with, without) = ((item * turns) % 3 > 0, (item + turns) % 4 > 1);
            feedback += &format!(",,{turns},{item},{}\n", u8::from(without));
            feedback += &format!("big,textual,{turns},{item},{}\n", u8::from(with));
            feedback += &format!("small,binary,{turns},{item},{}\n", u8::from(with && without));
        }
    }
    folder.write("verdicts.csv", verdicts);
    folder.write("pairs.csv", pairs);
    folder.write("clusters.csv", clusters);
    folder.write("feedback.csv", feedback);
    for (name, of) in [("venue.jsonl", "reviews.jsonl"), ("venue-z.jsonl", "llm-reviews.jsonl")] {
        folder.write(name, std::fs::read(sample(&format!("venue/{of}"))).unwrap());
    }
}

#[test]
fn experiments_on_records_and_venues_have_the_same_bytes_in_any_order() {
    let folder = Folder::new();
    recorded(&folder);
    let judges = "experiment judges verdicts.csv --pairs pairs.csv --cluster clusters.csv";
    for (arguments, rows) in [
        (format!("{judges} --bootstrap 20"), 30),
        ("experiment judges verdicts.csv --bootstrap 20".into(), 20),
        ("experiment feedback feedback.csv --bootstrap 20".into(), 8),
        ("experiment own venue.jsonl --z venue-z.jsonl --scenario single --trials 1".into(), 3),
    ] {
        let words: Vec<&str> = arguments.split(' ').chain(["--format", "csv"]).collect();
        let is_table = |word: &str| word.strip_suffix(".csv").is_some();
        let is_file = |word: &&str| is_table(word) || word.strip_suffix(".jsonl").is_some();
        let plain = folder.caz(&words).succeeded();
        assert!(plain.stdout.lines().count() > rows, "{arguments}: {}", plain.stdout);
        for seed in 1..4 {
            for name in words.iter().copied().filter(is_file) {
                let text = std::fs::read_to_string(folder.path(name)).unwrap();
                folder.write(name, shuffled(&text, is_table(name), seed));
            }
            assert_eq!(folder.caz(&words).succeeded().stdout, plain.stdout, "{arguments}");
        }
    }
}
