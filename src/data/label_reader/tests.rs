use super::*;
use proptest::prelude::*;
use std::path::Path;

fn source(name: &str, text: &str) -> Source {
    Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
}

fn load_with(
    labels: &Source,
    z: &[Source],
    duplicates: Duplicates,
) -> Result<LoadedLabels, DataError> {
    read_labels(&LabelFiles { labels, z, truth: None }, duplicates)
}

fn load(labels: &str, z: &str) -> LoadedLabels {
    let z = source("gpt.csv", z);
    load_with(&source("l.csv", labels), &[z], Duplicates::Error).unwrap()
}

fn error(labels: &str) -> String {
    load_with(&source("l.csv", labels), &[], Duplicates::Error).unwrap_err().to_string()
}

/// Every report by its names.
fn reports(table: &LabelTable) -> Vec<(String, String, String)> {
    let name = |ids: &Ids, id: u32| ids.name(id).to_owned();
    let named = table.reports().map(|r| {
        (
            name(table.tasks(), r.task),
            name(table.workers(), r.worker),
            name(table.labels(), u32::from(r.label)),
        )
    });
    named.collect()
}

const LABELS: &str = "task,worker,label\nq,a,x\nq,b,y\nr,a,x\n";

#[test]
fn synonyms_formats_and_white_space() {
    let expected = reports(&load(LABELS, "task,label\nq,x\n").table);
    assert_eq!(expected.len(), 3);
    for (name, text) in [
        ("l.csv", "Answer,question,extra,annotator\nx,q,,a\r\n y ,q,1,b\n\nx, r,2,a"),
        ("l.tsv", "item\tperformer\tresponse\nq\ta\tx\nq\tb\ty\nr\ta\tx\n"),
        ("l.csv", "unit,user,value\n\"q\",a,x\nq,b,y\nr,a,x\n"),
        (
            "l.jsonl",
            "{\"example\":\"q\",\"worker\":\"a\",\"label\":\"x\"}\n\
             {\"task\":\"q\",\"worker\":\"b\",\"label\":\"y\"}\n\
             {\"task\":\"r\",\"worker\":\"a\",\"label\":\"x\"}\n",
        ),
    ] {
        let loaded = load_with(&source(name, text), &[], Duplicates::Error).unwrap();
        assert_eq!(reports(&loaded.table), expected, "{text}");
        assert_eq!(loaded.rows, [3]);
    }
}

#[test]
fn duplicates_are_an_error_unless_one_is_chosen() {
    let twice = "task,worker,label\nq,a,x\nq,b,x\n\nq,a,y\n";
    let message = error(twice);
    assert!(message.contains("l.csv:5: worker `a` has a second label for `q`"), "{message}");
    assert!(message.contains("the first is in line 2"), "{message}");
    // Once through the fast way, once through the slow one.
    for text in [twice.to_owned(), twice.replace("q,b,x", "\"q\",b,x")] {
        for (choice, label) in [(Duplicates::First, "x"), (Duplicates::Last, "y")] {
            let loaded = load_with(&source("l.csv", &text), &[], choice).unwrap();
            assert_eq!(reports(&loaded.table)[0].2, label);
            assert_eq!(loaded.warnings[0].code, "duplicates_dropped");
            assert_eq!(loaded.rows, [3]);
        }
    }
}

#[test]
fn every_problem_is_named_and_reading_goes_on() {
    let message = error("task,worker,label\nq,,x\nq,b\nq,c, \nq,d,y\n");
    assert!(message.starts_with("3 problems"), "{message}");
    assert!(message.contains("l.csv:2: column `worker`: is empty"), "{message}");
    assert!(message.contains("l.csv:3: the row has 2 fields"), "{message}");
    assert!(message.contains("l.csv:4: column `label`: is empty"), "{message}");
    assert!(error("task,label\nq,x\n").contains("the header lacks `worker` (or annotator"));
    assert!(error("").contains("the file is empty"));
    assert!(error("task,worker,label\n").contains("no row of data"));
}

#[test]
fn bad_utf8_is_named() {
    let bytes = b"task,worker,label\nq,a,x\xff\n".as_slice();
    let labels = Source::from_reader(Path::new("l.csv"), bytes).unwrap();
    let message = load_with(&labels, &[], Duplicates::Error).unwrap_err().to_string();
    assert!(message.contains("l.csv:2: column `label`: is not valid UTF-8"), "{message}");
}

#[test]
fn too_many_labels_are_not_labels() {
    let rows: String = (0..=MAX_LABELS).map(|row| format!("q{row},a,text {row}\n")).collect();
    let message = error(&format!("task,worker,label\n{rows}"));
    assert!(message.contains("1 problem"), "{message}");
    assert!(message.contains("labels are categories, not free text"), "{message}");
}

#[test]
fn sources_samples_gaps_and_strange_labels_of_z() {
    let z = "task,label,source,sample\nq,x,gpt,0\nq,z,gpt,1\nr,y,llama,\nother,x,gpt,0\n";
    let loaded = load(LABELS, z);
    let names: Vec<&str> = loaded.z.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["gpt", "llama"]);
    assert_eq!(loaded.z.sources[0].samples.len(), 2);
    assert_eq!(loaded.z.sources[0].samples[1].labels, [Some(2), None]);
    assert_eq!(loaded.z.sources[1].conditioning(), [None, Some(1)]);
    assert_eq!(loaded.z.labels.names(), ["x", "y", "z"]);
    assert_eq!(loaded.table.label_count(), 2);
    let codes: Vec<_> = loaded.warnings.iter().map(|w| (w.code, w.count)).collect();
    assert_eq!(
        codes,
        [
            ("z_of_unknown_tasks", 1),
            ("z_labels_outside", 1),
            ("tasks_without_z", 1),
            ("tasks_without_z", 1),
            ("tasks_with_one_label", 1)
        ]
    );
}

#[test]
fn z_is_named_after_its_file_and_may_not_come_from_two() {
    let z = "task,label\nq,x\nr,y\n";
    assert_eq!(load(LABELS, z).z.sources[0].name, "gpt");
    let files = [source("a/gpt.csv", z), source("b/gpt.csv", z)];
    let message =
        load_with(&source("l.csv", LABELS), &files, Duplicates::Error).unwrap_err().to_string();
    assert!(message.contains("b/gpt.csv:2: column `source`: `gpt` is the name"), "{message}");
    let twice = source("gpt.csv", "task,label\nq,x\nq,y\n");
    let message = load_with(&source("l.csv", LABELS), &[twice], Duplicates::Error).unwrap_err();
    assert!(message.to_string().contains("independent ones in a column `sample`"));
}

#[test]
fn truth_is_read_by_task_and_may_hold_labels_of_its_own() {
    let truth = source("truth.csv", "task,gold\nr,w\nother,x\n");
    let labels = source("l.csv", LABELS);
    let files = LabelFiles { labels: &labels, z: &[], truth: Some(&truth) };
    let loaded = read_labels(&files, Duplicates::Error).unwrap();
    assert_eq!(loaded.truth, Some(vec![None, Some(2)]));
    assert_eq!(loaded.rows, [3, 2]);
    let codes: Vec<&str> = loaded.warnings.iter().map(|warning| warning.code).collect();
    assert!(codes.contains(&"truth_labels_outside") && !codes.contains(&"z_labels_outside"));
    assert!(!codes.contains(&"labels_without_z"), "there is no Z");
}

#[test]
fn truth_may_be_called_label() {
    let truth = source("truth.csv", "task,label\nr,X\nq,y\n");
    let labels = source("l.csv", LABELS);
    let files = LabelFiles { labels: &labels, z: &[], truth: Some(&truth) };
    let loaded = read_labels(&files, Duplicates::Error).unwrap();
    assert_eq!(loaded.truth, Some(vec![Some(1), Some(0)]));
}

/// The messages of warnings by their code.
fn said(loaded: &LoadedLabels, code: &str) -> Option<(u64, String)> {
    let warning = loaded.warnings.iter().find(|warning| warning.code == code)?;
    Some((warning.count, warning.message.clone()))
}

#[test]
fn other_spellings_are_one_label_on_every_side_unless_they_are_kept() {
    let text = "task,worker,label\nq,a,Yes\nq,b,YES\nr,a,no\nr,b,NO\ns,a,n/a\ns,b,no\n";
    let (z, truth) =
        ("task,label\nq,yes\nr,No\ns,NaN\n", source("t.csv", "task,truth\nq,yEs\nr,null\n"));
    // Once through the fast way, once through the slow one.
    for text in [text.to_owned(), text.replace("q,b,YES", "\"q\",b,YES")] {
        let (labels, z) = (source("l.csv", &text), [source("gpt.csv", z)]);
        let files = LabelFiles { labels: &labels, z: &z, truth: Some(&truth) };
        let loaded = read_labels(&files, Duplicates::Error).unwrap();
        assert_eq!(loaded.table.labels().names(), ["YES", "no"]);
        assert_eq!((loaded.table.report_count(), &loaded.rows), (5, &vec![6, 3, 2]));
        assert_eq!(loaded.z.sources[0].samples[0].labels, [Some(0), Some(1), None]);
        assert_eq!(loaded.truth, Some(vec![Some(0), None, None]));
        let (count, message) = said(&loaded, "labels_folded").unwrap();
        assert_eq!(count, 5, "{message}");
        assert!(message.contains("`NO`, `No` as `no`"), "{message}");
        assert_eq!(said(&loaded, "labels_missing").unwrap().0, 3);
        assert_eq!(said(&loaded, "names_alike"), None);

        let reading = LabelReading { exact_labels: true, ..LabelReading::default() };
        let exact = read_labels(&files, reading).unwrap();
        assert_eq!(exact.table.labels().names(), ["NO", "YES", "Yes", "n/a", "no"]);
        assert_eq!(exact.table.report_count(), 6);
        assert_eq!(exact.z.labels.names()[5..], ["NaN", "No", "null", "yEs", "yes"]);
        assert_eq!((said(&exact, "labels_folded"), said(&exact, "labels_missing")), (None, None));
        assert!(said(&exact, "names_alike").is_some());
    }
}

#[test]
fn labels_of_one_side_are_listed() {
    let loaded = load(LABELS, "task,label\nq,w\nr,x\n");
    assert!(said(&loaded, "z_labels_outside").unwrap().1.ends_with(": w"));
    assert!(said(&loaded, "labels_without_z").unwrap().1.ends_with(": y"));
}

#[test]
fn a_crowd_of_missing_labels_is_a_problem_and_a_missing_one_no_duplicate() {
    let message = error("task,worker,label\nq,a,NaN\nq,b,null\n");
    assert!(message.contains("column `label`: every label says that there is none"), "{message}");
    let loaded = load("task,worker,label\nq,a,NaN\nq,a,x\nq,b,x\n", "task,label\nq,x\n");
    assert_eq!(reports(&loaded.table).len(), 2);
}

proptest! {
    #[test]
    fn the_fast_way_and_the_slow_way_agree(
        rows in prop::collection::vec(
            ("[ a-cé]{1,2}|'=1", "[a-c]", "[x-zXY]|\u{a0}x|NaN|\u{ff58}"),
            1..20,
        ),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        last_line_end: bool,
    ) {
        let mut text: String = std::iter::once(format!("task,worker,label{end}"))
            .chain(rows.iter().map(|(q, w, l)| format!("{q},{w},{l}{end}")))
            .collect();
        if !last_line_end {
            text.truncate(text.len() - end.len());
        }
        both_ways(&source("l.csv", &text), true)?;
    }

    #[test]
    fn odd_files_are_read_alike_or_left_to_the_slow_way(
        rows in prop::collection::vec(
            prop::array::uniform3("[ab]|\"[ab ,]{1,2}\"|[a \"\r,'=é\n]{0,3}|\"[a\n\r\"]{0,3}\"[ \"b]?"),
            1..8,
        ),
        header in prop::sample::select(vec!["task,worker,label", "\"task\",worker,\"label\""]),
        end in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
    ) {
        let rows = rows.iter().map(|row| format!("{}{end}", row.join(",")));
        both_ways(&source("l.csv", &format!("{header}{end}{}", rows.collect::<String>())), false)?;
    }

    #[test]
    fn json_lines_are_read_alike_or_left_to_the_slow_way(
        rows in prop::collection::vec(
            (
                prop::array::uniform3(
                    "\"[ab é'=]{1,2}\"|-?[0-9]{1,3}|true|false|[0-9]{14,20}|\"[a\\\\nu\"\t]{0,3}\"|null|-?[0-9]\\.?[0-9e]{0,2}|\\[\\]"
                ),
                prop::sample::select(vec![
                    "{\"task\":T,\"worker\":W,\"label\":L}",
                    " { \"label\" : L ,\t\"worker\": W , \"Task\":T } \r",
                    "{\"id\":1.5,\"task\":T,\"worker\":W,\"label\":L,\"x\":null}",
                    "{\"id\":L,\"task\":T,\"worker\":W,\"label\":\"x\",\"id\":1}",
                    "{\"task\":T,\"worker\":W,\"label\":L,\"question\":T}",
                    "{\"task\":T,\"worker\":W,\"label\":L},",
                    "",
                    " ",
                ]),
            ),
            1..6,
        ),
    ) {
        let line = |([t, w, l], line): &([String; 3], &str)| {
            line.replace('T', t).replace('W', w).replace('L', l).replace(&format!("{t}ask"), "Task") + "\n"
        };
        both_ways(&source("l.jsonl", &rows.iter().map(line).collect::<String>()), false)?;
    }
}

proptest! {
    #[test]
    fn what_is_given_of_tasks_is_read_alike_or_left_to_the_slow_way(
        rows in prop::collection::vec(
            (
                "[ab]|a long name [a-c]|\"[ab ,]{1,2}\"|[ab=é\"]{0,2}|'=1",
                "[x-z]|[ xé\r\n\"]{0,2}",
                "[gh]?|\"g h\"|'=1| ",
                "[0-9]?|[0-9]\"",
            ),
            1..8,
        ),
        header in prop::sample::select(vec![
            "task,label", "task,label,source", "label,task,sample,model", "task,label,source,model",
        ]),
        end in prop::sample::select(vec!["\n", "\r\n", "\n\n", "\n \n"]),
    ) {
        let width = header.split(',').count();
        let rows = rows.iter().map(|(task, label, origin, sample)| {
            [task.as_str(), label, origin, sample][..width].join(",") + end
        });
        given_both_ways(&source("z.csv", &format!("{header}{end}{}", rows.collect::<String>())))?;
    }

    #[test]
    fn what_json_gives_of_tasks_is_read_alike_or_left_to_the_slow_way(
        rows in prop::collection::vec(
            (
                prop::array::uniform4("\"[ab é'=]{1,2}\"|-?[0-9]{1,3}|true|\"[a\\nu]{0,2}\"|null|-?[0-9]\\.[0-9]|\\[\\]"),
                prop::sample::select(vec![
                    "{\"task\":T,\"label\":L}",
                    "{\"Task\":T,\"label\":L, \"source\": S}",
                    "{\"task\":T,\"sample\":N,\"label\":L,\"model\":S,\"x\":1.5} ",
                    "{\"task\":T,\"source\":S,\"label\":L,\"model\":S}",
                    "",
                ]),
            ),
            1..6,
        ),
    ) {
        let line = |([t, l, s, n], line): &([String; 4], &str)| {
            let filled = line.replace(":T", &format!(":{t}")).replace(":L", &format!(":{l}"));
            filled.replace('S', s).replace('N', n) + "\n"
        };
        given_both_ways(&source("z.jsonl", &rows.iter().map(line).collect::<String>()))?;
    }
}

/// What is wrong where the fast way sees anything but what the slow way does.
fn given_both_ways(of_tasks: &Source) -> Result<(), TestCaseError> {
    let (tasks, schema) =
        (["a", "b", "a long name b"].iter().collect(), [TASK, LABEL, SOURCE, SAMPLE]);
    let (mut slow, mut fast) = (Vec::new(), Vec::new());
    let mut problems = Problems::new();
    let mut of_file = FileProblems::new(of_tasks, &mut problems);
    let rows = read_given_by_row(of_tasks, &schema, &tasks, &mut of_file, &mut |given, _| {
        slow.push(format!("{given:?}"));
    });
    let plain =
        read_plain_given(of_tasks, &schema, &tasks, &mut |given| fast.push(format!("{given:?}")));
    if let Some(of_plain) = plain {
        prop_assert!(problems.is_empty());
        prop_assert_eq!(of_plain, rows);
        prop_assert_eq!(fast, slow);
    } else {
        prop_assert!(fast.is_empty());
    }
    Ok(())
}

#[test]
fn plain_files_of_z_go_the_fast_way() {
    for (name, text) in [
        ("z.csv", "task,label\nq,x\n\nr,y"),
        ("z.csv", "label,source,task,sample\r\nx,,\"q, 1\",1\r\ny,gpt,r,\r\n"),
        ("z.jsonl", "{\"task\": 7, \"label\": true, \"source\": null, \"p\": 0.5}\n"),
    ] {
        let z = source(name, text);
        let schema = [TASK, LABEL, SOURCE, SAMPLE];
        assert!(read_plain_given(&z, &schema, &Ids::new(), &mut |_| {}).is_some(), "{text}");
        given_both_ways(&z).unwrap();
    }
}

/// What is wrong where the fast way reads anything but what the slow way does, or nothing of what is `plain`.
fn both_ways(labels: &Source, plain: bool) -> Result<(), TestCaseError> {
    let mut problems = Problems::new();
    let mut spelling = Spelling::new(LabelReading::default());
    let (slow, read) = read_crowd_by_row(labels, Duplicates::Last, &mut spelling, &mut problems);
    if let Some((mut names, mut reports)) = read_plain_reports(labels, &[TASK, WORKER, LABEL]) {
        prop_assert_eq!(reports.concat().len() as u64, read.rows);
        let mut fast = Spelling::new(LabelReading::default());
        fast.fold_reports(&mut names.labels, &mut reports);
        prop_assert_eq!(problems.is_empty(), !reports.concat().is_empty());
        prop_assert_eq!(table_by_name(names, reports), slow);
        prop_assert!(fast.warnings().eq(spelling.warnings()));
    } else {
        prop_assert!(!plain || !problems.is_empty());
    }
    Ok(())
}

#[test]
fn quoted_fields_and_flat_objects_go_the_fast_way() {
    for (name, text) in [
        ("l.csv", "\"task\",worker,label\r\n\"q, 1\",\"a\",x\r\nq2,b,\"y\"\r\n"),
        ("l.csv", "task,worker,label\n\"q\",\"a\",\"x\""),
        (
            "l.jsonl",
            "{\"task\": \"q\", \"worker\": 7, \"label\": true, \"note\": null, \"seconds\": 1.25}\n",
        ),
    ] {
        let labels = source(name, text);
        assert!(read_plain_reports(&labels, &[TASK, WORKER, LABEL]).is_some(), "{text}");
        both_ways(&labels, true).unwrap();
    }
}
