use super::evidence::SourceAgreement;
use super::*;
use crate::data::observer::Silent;
use crate::data::progress::{NoProgress, Progress};
use crate::data::{LabelRow, ZLabelRow};
use crate::error::ErrorKind;
use crate::mechanism::{AnswerKind, LearnFrom, OwnFlag};
use crate::report::Cell;
use crate::stats::seed::stream;
use rand::RngExt;

/// a and b agree on four tasks of which the LLM says the same; c hands in the LLM.
fn set() -> Labels {
    let tasks = [("q", "x"), ("r", "y"), ("s", "x"), ("t", "y")];
    let rows = tasks.into_iter().flat_map(|(task, label)| {
        [("a", label), ("b", label), ("c", "x")]
            .map(|(worker, label)| LabelRow::new(task, worker, label))
    });
    let z = tasks.map(|(task, _)| ZLabelRow::new(task, "x"));
    Labels::from_rows(rows, z).unwrap()
}

fn all() -> LabelsSettings {
    let mechanism = MechanismName::EACH.to_vec();
    let learn_from = LearnFrom::All;
    LabelsSettings { mechanism, min_tasks: 2, learn_from, ..LabelsSettings::default() }
}

#[test]
fn a_run_is_owned_and_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let run = labels(set(), &all(), &Silent).unwrap();
    shared(&run);
    assert_eq!(run.all_scores().len(), MechanismName::EACH.len());
}

#[test]
fn scores_evidence_and_table_say_the_same_by_hand() {
    let run = labels(set(), &all(), &Silent).unwrap();
    // All tasks have Z = x: one stratum. T(x, x) and T(y, y) hold. a meets b and c on every task:
    // on q, b says x, against 1 of 3 other tasks of b, 1 - 1/3; c says x always, 1 - 1.
    let a = run.scores(MechanismName::CaZ).unwrap().row("a").unwrap();
    // Both labels are as frequent, so every task is worth the mean of 2/3 and 0.
    let expected = 1.0 / 3.0;
    assert!((a.estimate.unwrap().value - expected).abs() < 1e-12, "{a:?}");
    assert_eq!((a.n_tasks, a.n_z_tasks), (4, Some(4)));
    let c = run.evidence("c").unwrap();
    assert_eq!(c.with_z, [SourceAgreement { source: "z".into(), n_tasks: 4, share: Some(1.0) }]);
    assert_eq!(run.evidence("a").unwrap().with_z[0].share, Some(0.5));
    assert_eq!(c.with_consensus.agreement(), Some(0.5));
    // c equals Z always; of the others, on q and s all do, on r and t none: (1 - 1/2) / (1/2).
    // a equals Z on q and s, as b does; c always: o = 3/4, (1/2 - 3/4) / (1/4).
    let excess = run.scores(MechanismName::ExcessZ).unwrap();
    assert_eq!(excess.row("c").unwrap().copied, Some(1.0));
    assert_eq!(excess.row("a").unwrap().copied, Some(-1.0));
    assert_eq!(excess.rows[0].worker, "c");
    let unknown = run.evidence("nobody").unwrap_err();
    assert_eq!(unknown.to_string(), "no worker is called `nobody`");
    let report = run.report();
    assert_eq!(report.table.rows().len(), 3 * MechanismName::EACH.len());
    assert_eq!(report.table.rows()[0][0], "c".into());
    assert_eq!(report.settings["mechanism"][0], "ca_z");
    assert_eq!(report.settings["duplicates"], "error");
}

#[test]
fn a_mechanism_without_the_z_it_needs_and_bad_settings_are_usage_errors() {
    let rows = [LabelRow::new("q", "a", "x"), LabelRow::new("q", "b", "x")];
    let without = Labels::from_rows(rows, []).unwrap();
    let error = labels(without, &LabelsSettings::default(), &Silent).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let settings = LabelsSettings { fdr: 2.0, ..LabelsSettings::default() };
    assert_eq!(labels(set(), &settings, &Silent).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn who_has_no_score_for_want_of_z_is_not_said_to_have_no_label() {
    let rows = [("q", "a"), ("q", "b"), ("r", "a")].map(|(q, w)| LabelRow::new(q, w, "x"));
    let set = Labels::from_rows(rows, [ZLabelRow::new("t", "x")]).unwrap();
    let settings = LabelsSettings { mechanism: vec![MechanismName::DsZ], ..all() };
    let run = labels(set, &settings, &Silent).unwrap();
    let said = report::left_out(run.set.table.workers().names(), &run.all_scores()[0]).unwrap();
    assert_eq!(said, "2 workers have no ds_z score (no task with a Z label): a, b.");
}

#[test]
fn who_listens_can_stop_a_run() {
    struct Stop;
    impl Observer for Stop {
        fn stage(&self, _doing: &'static str, _total: u64) -> Box<dyn Progress> {
            Box::new(NoProgress)
        }
        fn say(&self, _line: &str) {}
        fn interrupted(&self) -> bool {
            true
        }
    }
    let error = labels(set(), &all(), &Stop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn the_consensus_is_one_label_a_task_and_a_tie_is_none() {
    // q: two of three say x. r: x and y, a tie by votes. s: nobody but c.
    let rows = [
        ("q", "a", "x"),
        ("q", "b", "x"),
        ("q", "c", "y"),
        ("r", "a", "x"),
        ("r", "c", "y"),
        ("s", "c", "y"),
    ];
    let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
    let settings = LabelsSettings {
        mechanism: vec![MechanismName::Ca],
        consensus_by: MechanismName::Majority,
        ..LabelsSettings::default()
    };
    let run = labels(Labels::from_rows(rows, []).unwrap(), &settings, &Silent).unwrap();
    let consensus = run.consensus_of_tasks().unwrap();
    let table = consensus.table();
    assert_eq!(table.columns(), ["task", "label", "probability", "n_labels"]);
    let rows: [Vec<Cell>; 3] = [
        vec!["q".into(), "x".into(), (2.0 / 3.0).into(), 3_usize.into()],
        vec!["r".into(), Cell::Missing, 0.5.into(), 2_usize.into()],
        vec!["s".into(), "y".into(), 1.0.into(), 1_usize.into()],
    ];
    assert_eq!(table.rows(), rows);
    assert_eq!(consensus.other, None);
    let said = consensus.sentences(true, true);
    assert_eq!(
        said[0],
        "Consensus by majority of 3 tasks; 1 of them ties or has no label, and is empty."
    );
    assert_eq!(said[1], "Nobody is flagged look, so nobody was left out.");
}

#[test]
fn ordered_labels_pay_for_near_misses_and_sets_are_questions() {
    // Everybody is one step away from the others, never the same: nothing is earned by equality, and a
    // part on a scale. Truth 1, 3, 1, 3: a says it, b one more.
    let tasks = [("q", 1), ("r", 3), ("s", 1), ("t", 3)];
    let rows = tasks.into_iter().flat_map(|(task, truth)| {
        [("a", truth), ("b", truth + 1)]
            .map(|(worker, label)| LabelRow::new(task, worker, label.to_string()))
    });
    let set = Labels::from_rows(rows, []).unwrap();
    let settings = LabelsSettings {
        mechanism: vec![MechanismName::Ca],
        scale: Some("1..5".parse().unwrap()),
        ..LabelsSettings::default()
    };
    let run = labels(set, &settings, &Silent).unwrap();
    let a = run.scores(MechanismName::Ca).unwrap().row("a").unwrap().estimate.unwrap();
    // T = 1 - |h - l| / 4. a on q (1): b's 2: 3/4; b elsewhere 4, 2, 4: 1/4, 3/4, 1/4, mean 5/12; 1/3.
    // r (3): b's 4: 3/4; 2, 2, 4 elsewhere: 3/4 each: 0. s as q, t as r: mean 1/6.
    assert!((a.value - 1.0 / 6.0).abs() < 1e-12, "{a:?}");
    let rows = [("q", "a", "x;y"), ("q", "b", "y; x"), ("r", "a", "x"), ("r", "b", "z")];
    let rows = rows.map(|(task, worker, label)| LabelRow::new(task, worker, label));
    let settings = LabelsSettings {
        mechanism: vec![MechanismName::Majority],
        multi: true,
        ..LabelsSettings::default()
    };
    let run = labels(Labels::from_rows(rows, []).unwrap(), &settings, &Silent).unwrap();
    let a = run.scores(MechanismName::Majority).unwrap().row("a").unwrap();
    // q/x, q/y, q/z and r/y agree; r/x and r/z do not.
    assert_eq!(a.n_tasks, 6);
    assert!((a.estimate.unwrap().value - 4.0 / 6.0).abs() < 1e-12);
}

#[test]
fn several_boxes_that_say_one_thing_are_no_more_sure_of_it() {
    let mut random = stream(1, "boxes", 0);
    let mut say = |truth: bool| truth == random.random_bool(0.8);
    let truth: Vec<bool> = (0..20).map(|task| task % 2 == 0).collect();
    let rows: Vec<(usize, String, bool)> = (0..20)
        .flat_map(|task| (0..12).map(move |worker| (task, worker)))
        .map(|(task, worker)| (task, worker.to_string(), say(truth[task])))
        .collect();
    let z: Vec<bool> = truth.iter().map(|&truth| say(truth)).collect();
    // What is ticked together says of copies as much as one label: half as wide were the four boxes four tasks.
    let width = |shown: [&str; 2], multi: bool| -> f64 {
        let of = |yes: bool| shown[usize::from(yes)];
        let rows = rows
            .iter()
            .map(|(task, worker, yes)| LabelRow::new(task.to_string(), worker.clone(), of(*yes)));
        let z = z.iter().enumerate().map(|(task, yes)| ZLabelRow::new(task.to_string(), of(*yes)));
        let mechanism = vec![MechanismName::Own];
        let settings = LabelsSettings { mechanism, multi, ..LabelsSettings::default() };
        let run = labels(Labels::from_rows(rows, z).unwrap(), &settings, &Silent).unwrap();
        let own = &run.scores(MechanismName::Own).unwrap().rows;
        own.iter().map(|row| row.copied_interval.unwrap()).map(|(low, high)| high - low).sum()
    };
    let ratio = width(["a;b;c", "d"], true) / width(["a", "d"], false);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

#[cfg(feature = "html")]
#[test]
fn the_page_shows_what_the_table_says() {
    let run = labels(set(), &all(), &Silent).unwrap();
    let page = run.page();
    let people = page.people.unwrap();
    assert_eq!(people.names, ["a", "b", "c"]);
    assert_eq!(people.views.len(), run.all_scores().len());
    for scored in run.all_scores() {
        let view = people.views.iter().find(|view| view.name == scored.mechanism.as_str()).unwrap();
        for row in &scored.rows {
            let shown = &view.rows[row.number];
            assert_eq!(shown.score, row.estimate.map(|e| e.value));
            assert_eq!((shown.rank, shown.count), (row.rank, Some(row.n_tasks as u64)));
        }
    }
}

/// 24 workers and the LLM label 60 tasks with three labels, right with probability .8; the first `copiers`
/// workers hand in the LLM.
fn crowd_that_copies(copiers: usize, seed: u64) -> Labels {
    let mut random = stream(seed, "test", 0);
    let names = ["x", "y", "z"];
    let (mut rows, mut z) = (Vec::new(), Vec::new());
    for task in 0..60 {
        let mut said =
            || if random.random_bool(0.7) { task % 3 } else { random.random_range(0..3) };
        let (name, llm) = (format!("q{task}"), said());
        z.push(ZLabelRow::new(&name, names[llm]));
        for who in 0..24 {
            let label = if who < copiers { llm } else { said() };
            rows.push(LabelRow::new(&name, format!("w{who:02}"), names[label]));
        }
    }
    Labels::from_rows(rows, z).unwrap()
}

#[test]
fn a_majority_that_copies_is_warned_of() {
    let set = crowd_that_copies(16, 2);
    let settings =
        LabelsSettings { mechanism: vec![MechanismName::Own], ..LabelsSettings::default() };
    let warnings = labels(set, &settings, &Silent).unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.code == "own_near_majority"), "{warnings:?}");
}

#[test]
fn the_flags_of_own_are_read_wherever_it_stands() {
    let mechanism = vec![MechanismName::CaZ, MechanismName::Own];
    let settings = LabelsSettings { mechanism, ..LabelsSettings::default() };
    let run = labels(crowd_that_copies(2, 1), &settings, &Silent).unwrap();
    let people = run.workers().unwrap();
    let look = people.rows().iter().filter(|row| row[1] == "look".into());
    let look: Vec<&Cell> = look.map(|row| &row[0]).collect();
    assert_eq!(look, [&"w00".into(), &"w01".into()]);
    #[cfg(feature = "html")]
    {
        let page = run.page();
        let first = page.first.unwrap();
        let mut named: Vec<usize> = first.people.iter().map(|person| person.person).collect();
        named.sort_unstable();
        assert_eq!(named, [0, 1]);
        assert!(first.answer.starts_with("2 of 24 workers to look at, "), "{}", first.answer);
        let views = page.people.unwrap().views;
        assert_eq!([&views[0].name, &views[1].name], ["own", "ca_z"]);
    }
}

#[test]
fn the_accuracy_of_the_table_is_the_quality_by_which_people_are_paid() {
    // Each of 24 workers says two of three tasks, so that the others are never sure.
    let mut rows = Vec::new();
    let mut random = stream(3, "test", 0);
    for task in 0..90_usize {
        for who in (0..24).filter(|who| (who + task) % 8 < 3) {
            let right = random.random_bool(0.75);
            let label = if right { task % 2 } else { 1 - task % 2 };
            rows.push(LabelRow::new(format!("q{task}"), format!("w{who:02}"), ["x", "y"][label]));
        }
    }
    let z = (0..90_usize).map(|task| ZLabelRow::new(format!("q{task}"), ["x", "y"][task / 2 % 2]));
    let settings = LabelsSettings {
        mechanism: vec![MechanismName::Own],
        min_tasks: 10,
        ..LabelsSettings::default()
    };
    let run = labels(Labels::from_rows(rows, z).unwrap(), &settings, &Silent).unwrap();
    let (table, people) = (run.report().table, run.workers().unwrap());
    let place = |name: &str| table.columns().iter().position(|column| *column == name).unwrap();
    assert_eq!(table.rows().len(), 24);
    for (row, person) in table.rows().iter().zip(people.rows()) {
        let accuracy = ["accuracy", "accuracy_low", "accuracy_high"].map(|name| &row[place(name)]);
        assert_eq!((&row[0], accuracy), (&person[0], [&person[3], &person[4], &person[5]]));
        assert_ne!(person[3], Cell::Missing);
    }
    #[cfg(feature = "html")]
    {
        let measures = run.page().people.unwrap().measures;
        let quality = measures.iter().find(|measure| measure.name == "quality").unwrap();
        let crate::report::html::Values::Numbers(values) = &quality.values else {
            panic!("{quality:?}")
        };
        assert!(values.iter().all(Option::is_some));
    }
    // Nobody's own label vouches for it, and doubt of the others counts against nobody.
    let known = people.rows().iter().map(|row| match row[3] {
        Cell::Number(quality) => quality,
        _ => f64::NAN,
    });
    let mean = known.sum::<f64>() / 24.0;
    assert!((mean - 0.75).abs() < 0.06, "{mean}");
}

#[test]
fn of_too_many_labels_accuracy_is_left_out_with_a_warning() {
    use super::people::too_many;
    assert_eq!(too_many(2_000_000), None);
    let warning = too_many(2_000_001).unwrap();
    assert_eq!((warning.code, warning.count), ("accuracy_left_out", 2_000_001));
}

#[test]
fn own_flags_who_hands_in_another_sample_and_says_what_the_flag_is_worth() {
    let set = crowd_that_copies(2, 1);
    let settings =
        LabelsSettings { mechanism: vec![MechanismName::Own], ..LabelsSettings::default() };
    let run = labels(set, &settings, &Silent).unwrap();
    assert!(run.warnings().iter().all(|warning| warning.code != "own_near_majority"));
    let scored = run.scores(MechanismName::Own).unwrap();
    for row in &scored.rows {
        let own = row.own.unwrap();
        let copies = row.number < 2;
        assert_eq!(row.flag_word() == Some("look"), copies, "{row:?}");
        assert_eq!(own.reads_as == Some(AnswerKind::Copy), copies, "{row:?}");
        assert_eq!(own.p_own.unwrap() < 0.5, copies, "{row:?}");
        assert_eq!(row.rank.is_none(), own.flag == OwnFlag::Clear, "{row:?}");
        assert_eq!(row.copied.unwrap() > 0.9, copies, "{row:?}");
    }
    let report = run.report();
    let columns = report.table.columns();
    let cell = |name: &str| {
        let at = columns.iter().position(|column| *column == name).unwrap();
        report.table.rows()[0][at].clone()
    };
    assert_eq!((cell("flag"), cell("reads_as")), ("look".into(), "copy".into()));
    assert!(report.footer.iter().any(|line| line.contains("could be seen")), "{:?}", report.footer);
    #[cfg(feature = "html")]
    {
        let copiers = scored.rows.iter().filter(|row| row.number < 2);
        let chances: Vec<String> = copiers
            .map(|row| format!("their own is {:.1} %", 100.0 * row.own.unwrap().p_own.unwrap()))
            .collect();
        let page = run.page();
        let first = page.first.unwrap();
        let mut people: Vec<usize> = first.people.iter().map(|person| person.person).collect();
        people.sort_unstable();
        assert_eq!(people, [0, 1]);
        for person in &first.people {
            let says = &person.says;
            assert!(says.starts_with("says what your LLM says (copied 1.00"), "{says}");
            assert!(chances.iter().any(|chance| says.ends_with(chance)), "{says}");
        }
        assert!(first.estimate[0].starts_with("About "), "{:?}", first.estimate);
        assert!(page.reading[0].contains("two questions"), "{:?}", page.reading);
    }
}
