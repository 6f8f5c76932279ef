use std::collections::BTreeMap;

use super::super::label_details::{LabelDetail, LabelDetails, ShownConfusion, ShownTask};
use super::super::model::{Details, FirstPerson, Measure, PersonRow, SentencePair, Values, View};
use super::super::review_details::{
    Author, ReviewDetail, ReviewDetails, ReviewText, Shade, ShownAspects, ShownPeer, ShownReview,
    ShownSentence, ShownText, TextSentence,
};
use super::*;
use crate::data::warning::Warning;
use crate::report::plot::{ScatterChart, ScatterCloud, ScatterPoint};
use crate::report::tests::{example, written};

/// Everything that has broken out of a page somewhere, in one name.
const HOSTILE: &str = concat!(
    "</script><script>window.__pwned=1</script><!--<script>]]>",
    "\"'`><img src=x onerror=window.__pwned=1><svg/onload=window.__pwned=1>",
    "</style><style>*{background:url(//evil.example)}</style>",
    "javascript:window.__pwned=1//{{ 7*7 }}{% raw %}\u{202e}\u{200b}\u{2028}\u{0}&lt;",
);

fn people(name: &str, details: Details) -> People {
    let row = PersonRow {
        score: Some(-0.25),
        interval: Some((-0.5, 0.0)),
        rank: Some(2),
        flag: Some(name.to_owned()),
        count: Some(3),
        place: 0,
    };
    let chart = ScatterChart {
        title: name.into(),
        x_name: name.into(),
        y_name: name.into(),
        corners: [name.into(), name.into()],
        points: vec![ScatterPoint { person: 0, x: 1.0, y: 2.0 }],
        clouds: vec![ScatterCloud { name: name.into(), points: vec![(0.0, 0.0)] }],
        named: vec![(0, name.into())],
    };
    People {
        noun: "reviewer",
        counted: "papers",
        names: vec![name.into(), "ada".into()],
        views: vec![View {
            name: name.into(),
            meaning: name.into(),
            is_listed: true,
            rows: vec![row, PersonRow::default()],
        }],
        measures: vec![Measure {
            name: name.into(),
            meaning: name.into(),
            values: Values::Words(vec![Some(name.into()), None]),
            is_listed: true,
        }],
        verdicts: vec![vec![("", name.into())]],
        scatter: Some((chart.svg(), name.into())),
        details,
    }
}

fn review_details(name: &str) -> Details {
    let sentence = ShownSentence {
        position: 2,
        z_similarity: Some(0.987_654),
        peer_support: None,
        beyond_others: Some(0.5),
        shade: Shade::Z,
        in_z: Some((0, 0.75)),
        in_peer: None,
    };
    let detail = ReviewDetail {
        paper: 0,
        peers: vec![ShownPeer { person: 1, before: Some(0.5), after: None }],
        z: vec![(0, 0.25)],
        own: 0,
        closest_z: Some(1),
        closest_peer: None,
        sentences: vec![sentence],
        left_out: 4,
    };
    let text = |author, position| ShownText {
        author,
        length: 9,
        sentences: vec![TextSentence { position, text: name.into(), is_form: position == 0 }],
        aspects: vec![0.125, -0.5],
    };
    Details::Reviews(ReviewDetails {
        papers: vec![name.into()],
        sources: vec![name.into()],
        text: ReviewText::Excerpts,
        cut_after: Some(240),
        shading: name.into(),
        rows: vec![ShownReview {
            person: 0,
            reads_as: Some(name.into()),
            key: name.into(),
            ..ShownReview::default()
        }],
        groups: vec![name.into()],
        people: vec![vec![detail], vec![]],
        texts: vec![vec![text(Author::Person(0), 2), text(Author::Source(0), 0)]],
        aspects: Some(ShownAspects {
            categories: vec![name.into(), "clarity".into()],
            reader: name.into(),
        }),
    })
}

fn page(name: &str, details: Details) -> Page {
    let pair =
        SentencePair { own: name.into(), other: name.into(), whose: name.into(), cosine: 0.936 };
    let person = FirstPerson { person: 0, says: name.into(), pair: Some(pair) };
    Page {
        title: name.into(),
        first: Some(First {
            answer: name.into(),
            people: vec![person.clone()],
            more: 3,
            unsure: vec![person],
            more_unsure: 2,
            estimate: vec![name.into()],
            nobody: "",
        }),
        lead: vec![name.into()],
        reading: vec![name.into()],
        people: Some(people(name, details)),
        figures: vec![("<svg></svg>".into(), name.into())],
        sections: vec![Section {
            id: "not-judged",
            title: name.into(),
            lead: name.into(),
            columns: vec!["reviewer", "why"],
            rows: vec![vec![SectionCell::Person(0), SectionCell::Text(name.into())]],
            left_out: 2,
            rest: "The other formats have them.",
            replaces: "own_not_judged",
        }],
        table: ShownTable::Open,
    }
}

fn report(name: &str) -> Report {
    let mut report = example();
    report.table = crate::report::Table::new(&["reviewer", "score"]);
    report.table.push(vec![name.into(), (-0.125).into()]);
    report.inputs[0].path = name.into();
    report.warnings = vec![Warning::new("hostile", 7, name)];
    report.footer = vec![name.into()];
    report.settings.insert(name.into(), name.into());
    report
}

fn html(report: &Report, page: &Page) -> String {
    written(&HtmlExporter { page }, report)
}

/// The content of the block of this kind that starts with `start`.
fn block<'a>(html: &'a str, start: &str) -> &'a str {
    let rest = html.split_once(start).expect("the block is there").1;
    rest.split_once("</script>").expect("the block ends").0
}

#[test]
fn hostile_text_in_every_field_stays_text() {
    let labels = Details::Labels(LabelDetails {
        labels: vec![HOSTILE.into()],
        sources: vec![HOSTILE.into()],
        consensus: HOSTILE.into(),
        tasks: vec![HOSTILE.into()],
        people: vec![LabelDetail::default(); 2],
    });
    for details in [review_details(HOSTILE), labels] {
        let html = html(&report(HOSTILE), &page(HOSTILE, details));
        // One script that runs and four blocks of data; nothing ends early and nothing begins.
        assert_eq!(html.matches("<script").count(), 5);
        assert_eq!(html.matches("</script>").count(), 5);
        assert_eq!(html.matches("<style>").count(), 1);
        assert_eq!(html.matches("</style>").count(), 1);
        for part in ["<!--", "<img", "<svg/", "\u{2028}", "\0"] {
            assert!(!html.contains(part), "{part:?}");
        }
        let markup = html.split_once("<script").unwrap().0;
        assert!(!markup.contains(['\u{202e}', '\u{200b}']), "shown as \\u{{202e}}");
        // The templates are filled once: what looks like one in a name is shown.
        assert!(html.contains("{{ 7*7 }}") && !html.contains("49{%"));
        // What the script reads is what was given.
        let data: serde_json::Value =
            serde_json::from_str(block(&html, "<script type=\"application/json\" id=\"data\">"))
                .unwrap();
        assert_eq!(data["names"][0], HOSTILE);
    }
}

#[test]
fn the_policy_allows_exactly_this_script_and_this_style() {
    let html = html(&report("a"), &page("b", review_details("c")));
    let inside = |start: &str, end: &str| {
        html.split_once(start).unwrap().1.split_once(end).unwrap().0.to_owned()
    };
    let policy = inside("http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let script = policy_hash(&inside("<script>", "</script>"));
    let style = policy_hash(&inside("<style>", "</style>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; \
             form-action 'none'"
        )
    );
}

#[test]
fn a_page_without_people_has_no_script() {
    let page = Page { title: "t".into(), table: ShownTable::Open, ..Page::default() };
    let html = html(&report("a"), &page);
    assert!(html.contains("script-src 'none'") && !html.contains("<script"));
    assert!(html.contains("<td class=\"number\">-0.125</td>"));
}

#[test]
fn everything_is_there_for_a_reader() {
    let html = html(&report("r.csv"), &page("b", review_details("c")));
    for part in [
        "caz reviews, version ",
        "<bdi>r.csv</bdi>",
        "<code>00</code>",
        "<span class=\"count\">7</span>",
        "<th scope=\"row\">seed</th><td><code>1</code></td>",
        "<noscript>",
        "role=\"img\"",
    ] {
        assert!(html.contains(part), "no {part}");
    }
}

#[test]
fn the_evidence_is_one_line_per_person_and_the_texts_one_per_paper() {
    let html = html(&report("a"), &page("b", review_details("c")));
    let lines = |id: &str| -> Vec<String> {
        let start = format!("<script type=\"application/json\" id=\"{id}\">");
        block(&html, &start).lines().map(str::to_owned).collect()
    };
    let detail = "[[[\"\",\"b\"]],[[0,[[1,0.5,null]],[[0,0.25]],0,1,null,[[2,0.988,null,1,0,0.75,null,null]],4]]]";
    assert_eq!(lines("details"), [detail, "[[],[]]"]);
    // Whose, how long, the sentences; of what they praise and criticise, two digits.
    let [review, z] = ["[0,9,[[2,\"c\",0]],[0.13,-0.5]]", "[-1,9,[[0,\"c\",1]],[0.13,-0.5]]"];
    assert_eq!(lines("texts"), [format!("[{review},{z}]")]);
}

#[test]
fn the_flagged_stand_above_everything_with_a_link_by_name() {
    let mut page = page("b", review_details("c"));
    page.people.as_mut().unwrap().names[0] = "a b&ä/".into();
    let html = html(&report("a"), &page);
    let first = html.find("Look at these first").unwrap();
    assert!(first < html.find("id=\"list\"").unwrap());
    assert!(
        html.contains("<a href=\"#person=a%20b%26%C3%A4%2F\"><bdi>a b&amp;ä&#x2f;</bdi></a>"),
        "{html}"
    );
    assert!(html.contains("3 more") && html.contains("(0.94)"));
    // A name with another space is another name.
    page.people.as_mut().unwrap().names[0] = "a\u{a0}b".into();
    assert!(self::html(&report("a"), &page).contains("<bdi>a\\u{a0}b</bdi></a>"));
    page.first = Some(First { nobody: "Nobody stands out", ..First::default() });
    let html = self::html(&report("a"), &page);
    assert!(html.contains("Nobody stands out") && !html.contains("Look at these first"));
}

#[test]
fn a_section_takes_the_place_of_its_warning() {
    let mut report = report("a");
    report.warnings = vec![
        Warning::new("own_not_judged", 1, "said in the section"),
        Warning::new("other", 7, "said here"),
    ];
    let html = html(&report, &page("b", review_details("c")));
    assert!(html.contains("said here") && !html.contains("said in the section"));
    assert!(html.contains("id=\"not-judged\"") && html.contains("2 more"));
}

#[test]
fn what_a_reader_marks_belongs_to_the_results() {
    let id = |report: &Report, page: &Page| {
        let html = html(report, page);
        let data = block(&html, "<script type=\"application/json\" id=\"data\">");
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        data["id"].as_str().unwrap().to_owned()
    };
    let one = id(&report("a"), &page("b", review_details("c")));
    assert_eq!(one.len(), 32);
    // The same results with other texts in the file, and other results.
    assert_eq!(id(&report("a"), &page("b", review_details("d"))), one);
    assert_ne!(id(&report("e"), &page("b", review_details("c"))), one);
}

#[test]
fn the_evidence_of_workers_is_compact_too() {
    let detail = LabelDetail {
        agreement: vec![(Some(0.5), 4), (None, 0)],
        confusion: ShownConfusion { cells: vec![(1, 0, 9)], left_out: 2, ties: 3 },
        kinds: [1, 0, 0, 0, 4],
        tasks: vec![ShownTask {
            task: 0,
            kind: 0,
            own: 1,
            consensus: Some(0),
            z: vec![Some(1), None],
        }],
    };
    let details = Details::Labels(LabelDetails {
        labels: vec!["x".into(), "y".into()],
        sources: vec!["gpt".into(), "llama".into()],
        consensus: "majority".into(),
        tasks: vec!["t".into()],
        people: vec![detail],
    });
    assert_eq!(
        people("a", details).detail(0).to_string(),
        "[[[\"\",\"a\"]],[[[0.5,4],[null,0]],[[1,0,9]],2,3,[1,0,0,0,4],[[0,0,1,0,[1,null]]]]]"
    );
}

#[test]
fn the_same_page_has_the_same_bytes() {
    let whole = || html(&report("a"), &page("b", review_details("c")));
    assert_eq!(whole(), whole());
}

#[test]
fn markup_has_no_inline_style_and_no_handler() {
    for (name, text) in TEMPLATES {
        assert!(!text.contains(" style="), "{name}");
        let handler = text.match_indices(" on").find(|(at, _)| {
            text[at + 3..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('=')
        });
        assert_eq!(handler, None, "{name}");
        assert!(!text.contains("http:") && !text.contains("https:"), "{name}");
    }
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "\"style\"",
        "</script",
        "<!--",
    ] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains("</style"));
}

/// Colours by name in a block of the style that starts at `start`.
fn palette(start: &str) -> BTreeMap<String, String> {
    let block = STYLE.split_once(start).expect("the palette is there").1;
    let block = block.split_once('}').unwrap().0;
    let entries = block.lines().filter_map(|line| line.trim().strip_prefix("--"));
    let colors = entries.filter_map(|entry| entry.trim_end_matches(';').split_once(": "));
    colors.map(|(name, color)| (name.to_owned(), color.to_owned())).collect()
}

/// Relative luminance, WCAG 2.2.
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let share = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn contrast_by_hand() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    // The grey that is known to just pass on white.
    assert!((contrast("#767676", "#ffffff") - 4.54).abs() < 0.01);
}

#[test]
fn every_pair_of_colours_meets_wcag_aa() {
    // Text needs 4.5.
    const TEXT: [(&str, &[&str]); 7] = [
        ("ink", &["page", "surface", "active", "z"]),
        ("muted", &["page", "surface", "active"]),
        ("link", &["page", "surface", "active"]),
        ("warn-ink", &["warn-page"]),
        ("good", &["surface", "active"]),
        ("bad", &["surface", "active"]),
        ("peer", &["surface"]),
    ];
    // What is drawn, and borders of controls, need 3.
    const DRAWN: [(&str, &[&str]); 12] = [
        ("control", &["surface", "page"]),
        ("focus", &["surface", "page", "active"]),
        ("plot", &["surface", "active"]),
        ("plot2", &["surface"]),
        ("plot3", &["surface"]),
        ("plot4", &["surface"]),
        ("plot5", &["surface"]),
        ("plot6", &["surface"]),
        ("mark", &["surface"]),
        ("peer", &["z"]),
        ("warn-ink", &["surface"]),
        ("ink", &["plot-box", "plot-bar"]),
    ];
    // Lines that only guide the eye.
    const QUIET: [&str; 2] = ["line", "guide"];
    let (light, dark) = (palette(":root {"), palette("(prefers-color-scheme: dark) {\n  :root {"));
    assert_eq!(light.keys().collect::<Vec<_>>(), dark.keys().collect::<Vec<_>>());
    let mut seen: Vec<&str> = QUIET.to_vec();
    for (pairs, least) in [(&TEXT[..], 4.5), (&DRAWN[..], 3.0)] {
        for &(front, backs) in pairs {
            for &back in backs {
                seen.extend([front, back]);
                for (palette, which) in [(&light, "light"), (&dark, "dark")] {
                    let ratio = contrast(&palette[front], &palette[back]);
                    assert!(ratio >= least, "{which}: {front} on {back} is {ratio:.2}");
                }
            }
        }
    }
    let untested: Vec<&String> =
        light.keys().filter(|name| !seen.contains(&name.as_str())).collect();
    assert!(untested.is_empty(), "{untested:?}");
    // No rule names a colour of its own, but to find those that figures are drawn in.
    let rules = STYLE.split_once("* { box-sizing").unwrap().1;
    for (at, _) in rules.match_indices('#') {
        let is_color = rules[at + 1..].chars().take(6).all(|c| c.is_ascii_hexdigit());
        assert!(!is_color || rules[..at].ends_with("=\""), "{}", &rules[at..at + 20]);
    }
}
