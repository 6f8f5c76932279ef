//! The default answer of `caz reviews` on the sample venue: whose reviews are not their own work.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Folder, Run, sample};

fn venue() -> [String; 2] {
    [sample("venue/reviews.jsonl"), sample("venue/llm-reviews.jsonl")]
}

fn run(arguments: &[&str]) -> Run {
    let [reviews, z] = venue();
    Folder::new().caz(&[&["reviews", &reviews, "--z", &z], arguments].concat()).succeeded()
}

#[test]
fn by_default_those_and_only_those_whose_reviews_are_not_their_own_are_flagged() {
    let rows = run(&["--format", "csv"]).csv();
    assert_eq!(rows.len(), 29);
    assert_eq!(
        rows[0][12..],
        [
            "p_own",
            "p_copy",
            "p_llm",
            "p_off_topic",
            "reads_as",
            "share",
            "share_low",
            "share_high",
            "n_look",
            "copied",
            "closeness",
            "reason",
        ],
        "{:?}",
        rows[0]
    );
    // finn copies Z word for word, gwen rewords an LLM, hugo writes about something else, jules puts one finding of
    // their own among an LLM's in one of two reviews.
    let look: Vec<(&str, &str)> = rows[1..]
        .iter()
        .filter(|row| row[11] == "look")
        .map(|row| (row[0].as_str(), row[16].as_str()))
        .collect();
    let expected = [("finn", "copy"), ("gwen", "llm"), ("hugo", "off_topic_llm"), ("jules", "llm")];
    assert_eq!(look, expected);
    for row in &rows[1..] {
        assert_eq!((row[1].as_str(), row[2].as_str()), ("own", "tfidf"));
        assert_eq!(row[4..7], ["", "", ""], "there is no interval");
        let parts: Vec<f64> = row[12..16].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let share: Vec<f64> = row[17..20].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(share[1] <= share[0] && share[0] <= share[2], "{row:?}");
        // Of another LLM's texts in the place of four people too few would be seen (.72 to .74 of 500 that were planted, in
        // that of all others more than .75); the Z on a paper of chen and quinn is as far from its reviews as those of others.
        let in_doubt = ["emil", "priya", "chen", "marco", "oskar", "quinn"];
        let in_doubt = in_doubt.contains(&row[0].as_str());
        assert!(
            row[11] == if in_doubt { "unsure" } else { "clear" } || row[11] == "look",
            "{row:?}"
        );
    }
    // Word for word comes first, then the worst; rank 1 is the best.
    let ranks: Vec<&str> = [1, 2, 3, 28].iter().map(|&row| rows[row][10].as_str()).collect();
    assert_eq!(ranks, ["28", "27", "26", "1"]);
}

#[test]
fn closeness_to_the_llm_stands_beside_and_is_minus_the_score_negative() {
    let rows = run(&["--score", "own,negative", "--format", "csv"]).csv();
    let of = |score: &str| -> BTreeMap<String, Vec<String>> {
        let rows = rows.iter().filter(|row| row[1] == score);
        rows.map(|row| (row[0].clone(), row.clone())).collect()
    };
    let (own, negative) = (of("own"), of("negative"));
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    for (name, row) in &own {
        assert!((number(&row[22]) + number(&negative[name][3])).abs() < 1e-9, "{name}");
        assert_eq!(negative[name][22], "");
    }
    assert!(own.values().all(|row| number(&row[22]) <= number(&own["finn"][22])));
    // Of one review, against the mean of those of its writer.
    let reviews = run(&["--by", "review", "--format", "csv"]).csv();
    let finn: Vec<f64> =
        reviews.iter().filter(|row| row[1] == "finn").map(|row| number(&row[8])).collect();
    let mean = finn.iter().sum::<f64>() / finn.len() as f64;
    assert!((mean - number(&own["finn"][22])).abs() < 1e-9);
}

#[test]
fn the_table_says_what_was_chosen_and_shows_the_worst() {
    let shown = run(&["--top", "4"]).stdout;
    for part in [
        "4 of 28 reviewers to look at",
        "did not hand in their own work",
        "Planted here, found: Z always, another LLM's",
        "asked for: 5 % false alarms at most",
        "24 of 28 reviewers not shown",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    let lines: Vec<&str> = shown.lines().collect();
    let header = lines.iter().position(|line| line.contains("reads_as")).unwrap();
    assert!(!lines[header].contains("ci_low"), "{}", lines[header]);
    assert_eq!(lines[header + 1..].iter().position(|line| line.is_empty()), Some(4));
    assert!(!run(&[]).stdout.contains("not shown"));
    // The paper's score stays to be asked for, and files have all.
    let rows = run(&["--score", "all", "--format", "csv", "--top", "1"]).csv();
    assert_eq!(rows.len(), 1 + 5 * 28);
    let six = [sample("reviews.jsonl"), sample("llm-reviews.jsonl")];
    let small = Folder::new().caz(&["reviews", &six[0], "--z", &six[1]]).succeeded().stdout;
    // In a small venue copies are found, and nobody is clear.
    for part in
        ["1 of 6 reviewers to look at, 5 unsure; 0 clear", "58 % word for word", "too few for one"]
    {
        assert!(small.contains(part), "no `{part}` in {small}");
    }
    let asked = ["reviews", &six[0], "--z", &six[1], "--score", "own", "--format", "csv"];
    let said = Folder::new().caz(&asked).succeeded().stderr;
    assert!(said.contains("6 reviewers and 6 papers are too few"), "{said}");
}

#[test]
fn settings_say_what_was_asked_for_and_what_was_chosen() {
    let value = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run(&[arguments, &["--format", "json"]].concat()).stdout).unwrap()
    };
    let found = value(&["--min-words", "50", "--fdr", ".1"])["settings"].clone();
    assert_eq!((&found["score_asked"], &found["score"]), (&json!("auto"), &json!(["own"])));
    assert_eq!((&found["min_words"], &found["fdr"]), (&json!(50), &json!(0.1)));
    assert_eq!((&found["own"]["min_words"], &found["own"]["fdr"]), (&json!(50), &json!(0.1)));
    assert_eq!(found["own"]["embedder"], "tfidf");
    let named = value(&["--score", "own", "--embedder", "static"]);
    assert_eq!(named["settings"]["score_asked"], json!(["own"]));
    assert_eq!(named["results"][0]["embedder"], "static");
    let both = value(&["--embedder", "tfidf,static"]);
    assert_eq!(both["settings"]["own"]["embedder"], "tfidf");
    assert_eq!(both["settings"]["beside"], json!(["static"]));
    assert_eq!(both["results"][0]["reviewer"], "finn");
    let [reviews, z] = venue();
    let given = ["reviews", &reviews, "--z", &z, "--embedder", "tfidf,given"];
    Folder::new().caz(&given).failed(2, &["only if each is on this machine"]);
    // With so many words asked for nobody is judged: every row has the reason, and the warning counts
    // them by it with the first few names.
    let nobody = value(&["--min-words", "1000", "--score", "own"]);
    let flags = |row: &Value| {
        // What is copied word for word needs no scale.
        row["reviewer"] == "finn" || (row["flag"] == "not_judged" && row["score"].is_null())
    };
    assert!(nobody["results"].as_array().unwrap().iter().all(flags));
    let codes = nobody["warnings"].as_array().unwrap();
    let warning = codes.iter().find(|warning| warning["code"] == "own_not_judged").unwrap();
    assert_eq!(warning["count"], 27);
    let message = warning["message"].as_str().unwrap();
    assert!(message.contains(": 27 with fewer than 1000 words (ada, bruno, "), "{message}");
    assert!(message.ends_with(" and 22 more)"), "{message}");
    let own_words = |row: &Value| {
        row["reviewer"] == "finn"
            || row["reason"].as_str().unwrap().ends_with(" words, fewer than 1000")
    };
    assert!(nobody["results"].as_array().unwrap().iter().all(own_words));
    let [reviews, z] = venue();
    let both = ["reviews", &reviews, "--z", &z, "--score", "auto,own"];
    Folder::new().caz(&both).failed(2, &["--score auto stands alone"]);
}

#[test]
fn another_language_is_not_judged_and_whose_text_was_handed_in_twice_is_not_clear() {
    let [reviews, z] = venue();
    let german = "Die Autoren schlagen ein Verfahren vor, und die Versuche zeigen, dass es auf drei \
        Datensätzen funktioniert. Ich würde gerne einen Vergleich mit einfachen Verfahren sehen, denn \
        der Gewinn in der zweiten Tabelle ist klein. Außerdem fehlt mir eine Angabe, wie lange die \
        Rechnungen dauern und auf welcher Maschine sie gelaufen sind, sonst kann das niemand wiederholen.";
    let mut rows: Vec<Value> = std::fs::read_to_string(reviews)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let copied = rows.iter().find(|row| row["reviewer"] == "bruno").unwrap().clone();
    for row in &mut rows {
        if row["reviewer"] == "ada" {
            row["text"] = json!(german);
        }
        if row["reviewer"] == "hugo" {
            row["text"] = json!(row["text"].as_str().unwrap().replace('e', "e\u{200b}"));
        }
        if row["reviewer"] == "chen" && row["paper"] == copied["paper"] {
            row["text"] = copied["text"].clone();
        }
    }
    let folder = Folder::new();
    folder.write("r.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    let with = |more: &[&str]| {
        folder.caz(&[&["reviews", "r.jsonl", "--z", &z], more].concat()).succeeded()
    };
    let value: Value = serde_json::from_str(&with(&["--format", "json"]).stdout).unwrap();
    let results = value["results"].as_array().unwrap();
    let ada = results.iter().find(|row| row["reviewer"] == "ada").unwrap();
    assert_eq!((&ada["flag"], &ada["score"]), (&json!("not_judged"), &Value::Null));
    let message = |code: &str| -> String {
        let warnings = value["warnings"].as_array().unwrap();
        let found = warnings.iter().find(|warning| warning["code"] == code);
        found.unwrap_or_else(|| panic!("no {code}"))["message"].as_str().unwrap().to_owned()
    };
    let why = "written in German, other than most reviews or LLM reviews";
    assert_eq!(message("own_not_judged"), format!("not judged: 1 reviewer: 1 {why} (ada)"));
    assert_eq!(ada["reason"], why);
    let judged = results.iter().filter(|row| row["flag"] != "not_judged");
    assert!(judged.clone().count() > 20 && judged.clone().all(|row| row["reason"].is_null()));
    let table = with(&["--format", "csv"]).csv();
    assert_eq!(table[0].last().unwrap(), "reason");
    let ada = table.iter().find(|row| row[0] == "ada").unwrap();
    assert_eq!(ada.last().unwrap(), why);
    assert!(message("near_duplicates").contains("bruno on P01 and chen on P01"));
    // Who hides words from a search is named, and found as without it.
    assert!(message("disguised_words").contains("hugo on "), "{}", message("disguised_words"));
    let hugo = results.iter().find(|row| row["reviewer"] == "hugo").unwrap();
    assert_eq!(hugo["flag"], "look");
    let shown = with(&[]).stdout;
    assert_eq!(shown.matches("bruno on P01 and chen on P01").count(), 1, "{shown}");
    assert!(with(&["--explain", "ada"]).stdout.contains("own work: not judged, written in German"));
    // Both were clear; whose text it is nobody can say, and the chance that it is their own leaves that out.
    for (name, expected) in [("bruno", "unsure"), ("chen", "unsure"), ("ines", "clear")] {
        let person = results.iter().find(|row| row["reviewer"] == name).unwrap();
        assert_eq!(person["flag"], expected, "{name}");
    }
    let chen = with(&["--explain", "chen"]).stdout;
    assert!(
        chen.contains("unsure, because a text of theirs is nearly the same as another one"),
        "{chen}"
    );
    assert!(chen.contains("chance that all is their own work, if the same text is: "), "{chen}");
}

#[test]
fn the_flags_of_own_are_read_wherever_it_stands_among_the_scores() {
    let folder = Folder::new();
    let [reviews, z] = venue();
    let scores = ["--score", "projected,own", "--workers", "w.csv", "--report", "page.html"];
    folder.caz(&[&["reviews", &reviews, "--z", &z], &scores[..]].concat()).succeeded();
    let mut people = csv::Reader::from_path(folder.path("w.csv")).unwrap();
    let people: Vec<[String; 3]> = people
        .records()
        .map(|row| row.unwrap())
        .map(|row| [0, 1, 2].map(|place| row[place].to_owned()))
        .collect();
    let look: Vec<&str> =
        people.iter().filter(|row| row[1] == "look").map(|row| row[0].as_str()).collect();
    assert_eq!(look, ["finn", "gwen", "hugo", "jules"]);
    assert_eq!(people[0][2], "copy");
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("Look at these first") && !page.contains("Nobody is flagged"));
}

#[test]
fn explain_says_what_own_work_rests_on() {
    let shown = run(&["--explain", "finn"]).stdout;
    for part in [
        "own work: p_own 0.000, p_copy 1.000",
        "reads as copy; flag look; from 3 papers",
        "\n  look, reads as a copy of the LLM's review; chance of own work less than 0.1 %; 100 % of its words \
         stand in an LLM's\n    closer than to other papers' by",
        "most similar peer: ",
        "most similar LLM review: ",
        "a form or a quote would stand there word for word, too (a table of the papers' texts would say what all may quote)",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
}

#[test]
fn z_that_is_filed_under_other_papers_clears_nobody() {
    let [reviews, z] = venue();
    let rows = std::fs::read_to_string(z).unwrap();
    let mut rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let names: BTreeSet<String> =
        rows.iter().map(|row| row["paper"].as_str().unwrap().to_owned()).collect();
    // A table that slipped by one row.
    let next: BTreeMap<&String, &String> = names.iter().zip(names.iter().cycle().skip(1)).collect();
    for row in &mut rows {
        row["paper"] = json!(next[&row["paper"].as_str().unwrap().to_owned()]);
    }
    let folder = Folder::new();
    folder.write("z.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    let shown =
        folder.caz(&["reviews", &reviews, "--z", "z.jsonl", "--format", "json"]).succeeded();
    let value: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert!(value["results"].as_array().unwrap().iter().all(|row| row["flag"] != "clear"));
    let warnings = value["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "own_far_z"), "{warnings:?}");
}

#[test]
fn of_reviews_filed_under_wrong_papers_the_right_ones_are_named() {
    let folder = Folder::new();
    let [reviews, z] = venue();
    let text = std::fs::read_to_string(reviews).unwrap();
    // quinn's reviews of P05 and P11.
    let filed = |line: &str| {
        if line.contains(r#""quinn""#) {
            line.replace(r#""P05""#, r#""P02""#).replace(r#""P11""#, r#""P08""#)
        } else {
            line.to_owned()
        }
    };
    let wrong: String = text.lines().map(|line| filed(line) + "\n").collect();
    folder.write("r.jsonl", wrong);
    let with = |more: &[&str]| {
        folder.caz(&[&["reviews", "r.jsonl", "--z", &z], more].concat()).succeeded()
    };
    let rows = with(&["--explain", "quinn", "--format", "csv"]).csv();
    let columns =
        ["kind", "paper", "with", "is_close", "closeness", "closeness_here", "similarity"];
    let columns = columns.map(|name| rows[0].iter().position(|column| column == name).unwrap());
    let of_kind: Vec<[&str; 7]> = rows[1..]
        .iter()
        .map(|row| columns.map(|column| row[column].as_str()))
        .filter(|row| row[0] == "other_paper")
        .collect();
    let named: Vec<[&str; 3]> = of_kind.iter().map(|row| [row[1], row[2], row[3]]).collect();
    assert_eq!(named, [["P02", "P05", "yes"], ["P08", "P11", "yes"]]);
    for row in of_kind {
        let [there, here] = [4, 5].map(|column| row[column].parse::<f64>().unwrap());
        assert!(there > 0.1 && there > here + 0.1 && row[6].is_empty(), "{row:?}");
    }
    assert!(
        with(&["--explain", "quinn"])
            .stdout
            .contains("closest other paper: P05 (closer than to other papers' by 0.")
    );
    // Who is clear is not said to be close to anything.
    assert!(!with(&["--explain", "rosa"]).stdout.contains("closest other paper"));

    with(&["--report", "page.html"]);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    let quinn = page.split("<li>").find(|part| part.contains("#person=quinn\"")).unwrap();
    assert!(
        quinn.contains("the review of P02 is closest to what others wrote on P05;")
            || quinn.contains("the review of P08 is closest to what others wrote on P11;"),
        "{quinn}"
    );
    let (_, section) = page.split_once("id=\"other-papers\"").expect("a section");
    let (section, _) = section.split_once("</section>").expect("its end");
    let rows: Vec<&str> = section.split("<tr").filter(|row| row.contains(">quinn<")).collect();
    assert_eq!(rows.len(), 2, "{section}");
}

#[test]
fn the_same_bytes_whatever_the_threads_and_the_order_of_rows() {
    let with = |threads: &str| run(&["--format", "csv", "--threads", threads]).stdout;
    assert_eq!(with("1"), with("3"));
    let [reviews, z] = venue();
    let text = std::fs::read_to_string(reviews).unwrap();
    let turned: String = text.lines().rev().map(|line| format!("{line}\n")).collect();
    let folder = Folder::new();
    folder.write("r.jsonl", turned);
    let turned = |more: &[&str]| {
        let arguments = [&["reviews", "r.jsonl", "--z", &z, "--format", "csv"], more].concat();
        folder.caz(&arguments).succeeded().stdout
    };
    assert_eq!(turned(&[]), with("2"));
    // Off topic, so that other papers are looked for.
    let explained =
        |threads: &str| run(&["--explain", "hugo", "--format", "csv", "--threads", threads]).stdout;
    assert!(explained("1").contains("other_paper"));
    assert_eq!(explained("1"), explained("3"));
    assert_eq!(turned(&["--explain", "hugo"]), explained("2"));
}

#[test]
fn the_page_names_first_whom_to_look_at() {
    let folder = Folder::new();
    let [reviews, z] = venue();
    folder.caz(&["reviews", &reviews, "--z", &z, "--report", "page.html"]).succeeded();
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    let (before, first) = page.split_once("Look at these first").expect("a section");
    let (first, _) = first.split_once("</section>").expect("its end");
    let people: Vec<&str> = first.split("<li>").skip(1).collect();
    let expected = [
        ("finn", "reads as a copy of the LLM&#x27;s review on 3 papers"),
        ("gwen", "reads as an LLM&#x27;s review on 3 papers"),
        ("hugo", "reads as a review of another paper, by an LLM or a person on 3 papers"),
        // One review alone; of six others nothing could be seen, which names nobody.
        ("jules", "reads as an LLM&#x27;s review on 1 of 2 papers"),
    ];
    assert_eq!(people.len(), expected.len(), "{first}");
    for (person, (name, reads_as)) in people.iter().zip(expected) {
        assert!(person.contains(&format!("#person={name}\"")), "{person}");
        assert!(person.contains(reads_as), "{person}");
    }
    assert!(before.contains("4 of 28 reviewers to look at"), "{before}");
}

#[test]
fn every_way_to_ask_would_it_have_caught_them_runs_on_the_bundled_files() {
    let page = std::fs::read_to_string(sample("../docs/researchers.md")).unwrap();
    let (_, chapter) = page.split_once("## Would it have caught them?").unwrap();
    let block = chapter.split("```").nth(1).unwrap();
    let mut commands = 0;
    for line in block.lines().filter(|line| line.starts_with("caz ")) {
        let words = line.split('#').next().unwrap().split_whitespace().skip(1);
        let mut arguments: Vec<String> = words
            .map(|word| word.strip_prefix("data/").map_or_else(|| word.to_owned(), sample))
            .collect();
        // As in the README, but for how often.
        let often = if line.contains("experiment") { &["--trials", "1"][..] } else { &[] };
        arguments.extend(often.iter().map(|word| (*word).to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Folder::new().caz(&arguments).succeeded();
        commands += 1;
    }
    assert_eq!(commands, 4);
}

#[test]
fn an_experiment_says_who_is_found_and_who_is_accused() {
    let [reviews, z] = venue();
    let folder = Folder::new();
    let with = |more: &[&str]| {
        let command =
            ["experiment", "own", &reviews, "--z", &z, "--scenario", "size", "--trials=2"];
        folder.caz(&[&command, more].concat())
    };
    let table = with(&["--threads=3", "--format=csv"]).succeeded();
    assert_eq!(with(&["--threads=1", "--format=csv"]).stdout, table.stdout);
    let rows = table.csv();
    assert_eq!(rows[0][..6], ["group", "scenario", "kind", "fdr", "auc", "found"]);
    let of = |name: &str, kind: &str, fdr: &str| {
        let row = rows.iter().find(|row| row[1] == name && row[2] == kind && row[3] == fdr);
        row.unwrap_or_else(|| panic!("no {name} {kind} {fdr}")).clone()
    };
    let name = "50 papers in all, 1 papers";
    assert!(of(name, "all", "0.05")[4].parse::<f64>().unwrap() > 0.8, "own tells them apart");
    assert_eq!(of(&format!("{name}, clean"), "all", "0.1")[5], "", "nobody to be found");
    // A rate of one kind of text is that of the second, and people are not found but accused.
    assert_eq!(of(name, "own", "0.05")[5], "");
    let settings =
        with(&["--format", "json", "--fdr", ".2", "--venue", "half=first", "--seed", "4"]);
    let value: Value = serde_json::from_str(&settings.succeeded().stdout).unwrap();
    let expected = json!({
        "scenario": ["size"], "half": "first", "fdr": [0.2], "trials": 2, "seed": 4,
        "duplicates": "error", "from": null, "columns": {}, "text_columns": [], "wide": null,
    });
    assert_eq!(value["settings"], expected);
    with(&["--fdr", "1"]).failed(2, &["the rate of false alarms is 1"]);
}

#[test]
fn z_that_is_no_review_is_counted_and_left_out() {
    let [reviews, z] = venue();
    let text = std::fs::read_to_string(z).unwrap();
    let mut rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows[0]["text"] = json!("I\u{2019}m sorry, but I can't help with that.");
    rows[1]["text"] = json!("Nice paper. Accept.");
    let repeated = rows[4]["text"].clone();
    rows[6]["text"] = repeated;
    let folder = Folder::new();
    folder.write("z.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    let run = folder.caz(&["reviews", &reviews, "--z", "z.jsonl", "--format", "json"]).succeeded();
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    let found: Vec<(u64, &str)> = (value["warnings"].as_array().unwrap().iter())
        .filter(|warning| warning["code"] == "own_unusable_z")
        .map(|w| (w["count"].as_u64().unwrap(), w["message"].as_str().unwrap()))
        .collect();
    assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(found[0].1.contains("too few words") && found[1].1.contains("refusals"), "{found:?}");
    assert!(found[2].1.contains("stands for several papers"), "{found:?}");
    let look = |name: &str| {
        let rows = value["results"].as_array().unwrap();
        rows.iter().find(|row| row["reviewer"] == name).unwrap()["flag"].clone()
    };
    assert_eq!((look("gwen"), look("ada")), (json!("look"), json!("clear")));
}

#[test]
fn papers_named_in_two_ways_are_an_error_that_shows_both() {
    let [reviews, z] = venue();
    let folder = Folder::new();
    let text = std::fs::read_to_string(z).unwrap().replace("\"P", "\"paper-");
    folder.write("z.jsonl", text);
    let run = folder.caz(&["reviews", &reviews, "--z", "z.jsonl"]);
    run.failed(3, &["none of 24 Z", "like `paper-01` here", "like `P01` in the reviews"]);
}

#[test]
fn in_a_venue_too_small_for_a_scale_nobody_is_clear() {
    let files = [sample("reviews.jsonl"), sample("llm-reviews.jsonl")];
    let asked = ["reviews", &files[0], "--z", &files[1], "--score", "own", "--format", "csv"];
    let run = Folder::new().caz(&asked).succeeded();
    let rows = run.csv();
    assert!(rows[1..].iter().all(|row| row[11] != "clear"), "{rows:?}");
    assert!(rows[1..].iter().any(|row| row[11] == "unsure"), "{rows:?}");
}
