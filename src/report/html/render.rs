//! From a report and its page to bytes, through the templates.

use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};

use super::super::{Cell, Exporter, Report, printable, printable_name, three_decimals};
use super::embedded::{hash_of, json_for_script, policy_hash};
use super::model::{Details, First, FirstPerson, Page, People, Section, SectionCell, ShownTable};
use super::script::SCRIPT;

/// People in the table that is there without scripts.
const PEOPLE_WITHOUT_SCRIPT: usize = 50;

/// Rows of a table that is shown as it is.
const MOST_TABLE_ROWS: usize = 2000;

/// Parts of the page, each with the data it shows; they are put together here.
const TEMPLATES: [(&str, &str); 8] = [
    ("report.html", include_str!("templates/report.html")),
    ("opening.html", include_str!("templates/opening.html")),
    ("people.html", include_str!("templates/people.html")),
    ("section.html", include_str!("templates/section.html")),
    ("reading.html", include_str!("templates/reading.html")),
    ("warnings.html", include_str!("templates/warnings.html")),
    ("table.html", include_str!("templates/table.html")),
    ("provenance.html", include_str!("templates/provenance.html")),
];

const STYLE: &str = include_str!("templates/style.css");

/// Writes one HTML file that needs nothing beside itself.
#[derive(Debug, Clone, Copy)]
pub struct HtmlExporter<'a> {
    /// What is shown beside the report.
    pub page: &'a Page,
}

impl Exporter for HtmlExporter<'_> {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let page = self.page;
        let templates = environment().map_err(io::Error::other)?;
        let fill = |name: &str, values: Value| -> io::Result<Value> {
            let template = templates.get_template(name).map_err(io::Error::other)?;
            template.render(values).map(Value::from_safe_string).map_err(io::Error::other)
        };
        // A checkout with other line ends must not change the hashes.
        let (style, script) = (STYLE.replace('\r', ""), SCRIPT.replace('\r', ""));
        let script = page.people.as_ref().map(|_| script);
        let people = match &page.people {
            Some(people) => fill("people.html", people_values(people))?,
            None => Value::from(()),
        };
        let table = match page.table {
            ShownTable::Hidden => Value::from(()),
            shown => fill("table.html", table_values(report, shown == ShownTable::Folded))?,
        };
        let sections: io::Result<Vec<Value>> = page
            .sections
            .iter()
            .map(|section| fill("section.html", section_values(section, page.people.as_ref())))
            .collect();
        let data = page.people.as_ref().map(|people| {
            let mut index = people.index();
            index["id"] = results_id(report).into();
            Value::from_safe_string(json_for_script(&index))
        });
        let rows = page
            .people
            .as_ref()
            .map(|people| Value::from_safe_string(json_for_script(&people.rows())));
        let whole = context! {
            title => shown(&page.title),
            style_hash => policy_hash(&style),
            script_hash => script.as_deref().map(policy_hash),
            style => Value::from_safe_string(style),
            script => script.map(Value::from_safe_string),
            opening => fill("opening.html", opening_values(report, page))?,
            warned => !warnings(report, page).is_empty(),
            warnings => fill("warnings.html", context! { warnings => warnings(report, page) })?,
            reading => fill("reading.html", context! { reading => all_shown(&page.reading) })?,
            sections => sections?,
            people,
            figures => figures(&page.figures),
            table,
            provenance => fill("provenance.html", provenance_values(report, page))?,
            data,
            rows,
        };
        let whole = templates
            .get_template("report.html")
            .and_then(|template| template.render(whole))
            .map_err(io::Error::other)?;
        // The evidence is most of the file, so it is written line by line, not gathered first.
        let (before, rest) = whole.split_once(DETAILS_MARK).unwrap_or((&whole, ""));
        let (between, after) = rest.split_once(TEXTS_MARK).unwrap_or(("", rest));
        let line = |value: &serde_json::Value, out: &mut dyn Write| {
            out.write_all(json_for_script(value).as_bytes())?;
            out.write_all(b"\n")
        };
        out.write_all(before.as_bytes())?;
        if let Some(people) = &page.people {
            for person in 0..people.names.len() {
                line(&people.detail(person), out)?;
            }
        }
        out.write_all(between.as_bytes())?;
        for texts in page.people.iter().flat_map(People::texts) {
            line(&texts, out)?;
        }
        out.write_all(after.as_bytes())
    }
}

/// Where the evidence goes in the rendered page. No value can hold it: `<` is escaped in all.
const DETAILS_MARK: &str = "<!--details-->";

/// Where the texts go, likewise.
const TEXTS_MARK: &str = "<!--texts-->";

/// A name for these results, under which a browser keeps what a reader marks: the same for the same
/// inputs, settings and scores, whatever of the texts is in the file.
fn results_id(report: &Report) -> String {
    let mut text = format!("{}\n", report.command);
    for input in &report.inputs {
        text.push_str(&format!("{}\n", input.sha256.as_deref().unwrap_or(&input.path)));
    }
    text.push_str(&serde_json::Value::from(report.settings.clone()).to_string());
    for row in report.table.rows() {
        text.push_str(&format!("\n{row:?}"));
    }
    hash_of(&text)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// Text from a stranger with characters that hide or reorder what is around them made visible.
fn shown(text: &str) -> String {
    printable(text).into_owned()
}

/// A name as [`printable_name`] shows it.
fn named(name: &str) -> String {
    printable_name(name).into_owned()
}

fn all_shown(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| shown(text)).collect()
}

fn opening_values(report: &Report, page: &Page) -> Value {
    let sections: Vec<Value> = page
        .sections
        .iter()
        .map(|section| {
            let count = section.rows.len() + section.left_out;
            context! { id => section.id, title => shown(&section.title), count }
        })
        .collect();
    let first = page.first.as_ref().zip(page.people.as_ref());
    context! {
        command => report.command,
        title => shown(&page.title),
        lead => all_shown(&page.lead),
        first => first.map(|(first, people)| first_values(first, people)),
        people => page.people.is_some(),
        sections,
        warnings => warnings(report, page).len(),
    }
}

fn first_values(first: &First, people: &People) -> Value {
    let persons = |all: &[FirstPerson]| -> Vec<Value> {
        let person = |person: &FirstPerson| {
            let pair = person.pair.as_ref().map(|pair| {
                context! {
                    own => shown(&pair.own),
                    other => shown(&pair.other),
                    whose => shown(&pair.whose),
                    cosine => format!("{:.2}", pair.cosine),
                }
            });
            let name = &people.names[person.person];
            context! {
                name => named(name), link => link_to(name), says => shown(&person.says), pair,
            }
        };
        all.iter().map(person).collect()
    };
    context! {
        answer => shown(&first.answer),
        people => persons(&first.people), more => first.more, noun => people.noun,
        unsure => persons(&first.unsure), more_unsure => first.more_unsure,
        nobody => first.nobody,
        estimate => all_shown(&first.estimate),
    }
}

/// The address of a person in the page, as the script reads it.
fn link_to(name: &str) -> String {
    let mut link = String::from("#person=");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                link.push(char::from(byte));
            }
            byte => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

/// The warnings, but those that a section says better.
fn warnings(report: &Report, page: &Page) -> Vec<Value> {
    let replaced = |code: &str| page.sections.iter().any(|section| section.replaces == code);
    report
        .warnings
        .iter()
        .filter(|warning| !replaced(warning.code))
        .map(|warning| context! { count => warning.count, message => shown(&warning.message) })
        .collect()
}

fn section_values(section: &Section, people: Option<&People>) -> Value {
    let cell = |cell: &SectionCell| match cell {
        SectionCell::Person(person) => {
            let name = people.and_then(|people| people.names.get(*person));
            let name = name.map_or("", String::as_str);
            context! { text => named(name), link => link_to(name) }
        }
        SectionCell::Text(text) => context! { text => shown(text), link => () },
    };
    let rows: Vec<Value> =
        section.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().into()).collect();
    context! {
        id => section.id,
        title => shown(&section.title),
        lead => shown(&section.lead),
        columns => section.columns.clone(),
        rows,
        left_out => section.left_out,
        rest => section.rest,
    }
}

fn figures(figures: &[(String, String)]) -> Vec<Value> {
    let figure = |(svg, caption): &(String, String)| {
        context! { svg => Value::from_safe_string(svg.clone()), caption => shown(caption) }
    };
    figures.iter().map(figure).collect()
}

fn people_values(people: &People) -> Value {
    let charts: Vec<Value> = people
        .views
        .iter()
        .map(|view| {
            let svg = Value::from_safe_string(super::people::histogram(people, view).svg());
            context! { name => shown(&view.name), meaning => shown(&view.meaning), svg }
        })
        .collect();
    let scatter = figures(people.scatter.as_slice()).pop();
    let rows = people.views.iter().flat_map(|view| &view.rows);
    let mut flags: Vec<String> = rows.filter_map(|row| row.flag.as_deref().map(shown)).collect();
    flags.sort_unstable();
    flags.dedup();
    let first = people.views.first();
    let mut order: Vec<usize> = (0..people.names.len()).collect();
    order.sort_by_key(|&person| (first.map_or(0, |view| view.rows[person].place), person));
    let plain: Vec<Value> = order
        .iter()
        .take(PEOPLE_WITHOUT_SCRIPT)
        .filter_map(|&person| {
            let row = &first?.rows[person];
            let number = |value: Option<f64>| value.map_or_else(|| "-".into(), three_decimals);
            let (low, high) = row.interval.unzip();
            Some(context! {
                name => named(&people.names[person]),
                score => number(row.score),
                low => number(low),
                high => number(high),
                flag => row.flag.as_deref().map(shown),
                count => row.count,
            })
        })
        .collect();
    let groups = match &people.details {
        Details::Reviews(details) => all_shown(&details.groups),
        Details::Labels(_) => Vec::new(),
    };
    context! {
        noun => people.noun,
        counted => people.counted,
        has_reviews => matches!(people.details, Details::Reviews(_)),
        groups,
        total => people.names.len(),
        charts,
        scatter,
        flags,
        plain,
    }
}

fn table_values(report: &Report, folded: bool) -> Value {
    let rows = report.table.rows();
    let shown_rows: Vec<Value> = rows
        .iter()
        .take(MOST_TABLE_ROWS)
        .map(|row| {
            let cells = (0..row.len()).map(|column| match &row[column] {
                Cell::Missing => context! { text => "-", number => true },
                Cell::Text(text) => context! { text => shown(text), number => false },
                Cell::Integer(number) => context! { text => number.to_string(), number => true },
                Cell::Number(number) => {
                    let text = report.table.for_people(row, column, *number);
                    context! { text, number => true }
                }
            });
            cells.collect::<Vec<_>>().into()
        })
        .collect();
    let left_out = rows.len() - shown_rows.len();
    context! { columns => report.table.columns().to_vec(), rows => shown_rows, left_out, folded }
}

/// A setting as people write it: lists with commas, texts without quotes.
fn in_words(value: &serde_json::Value) -> String {
    use serde_json::Value as Json;
    match value {
        Json::String(text) => text.clone(),
        Json::Null => "not set".to_owned(),
        Json::Array(values) if values.iter().all(|v| !v.is_object() && !v.is_array()) => {
            values.iter().map(in_words).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

fn provenance_values(report: &Report, page: &Page) -> Value {
    let footer = report.footer.iter().filter(|sentence| !page.lead.contains(sentence));
    let settings: Vec<Value> = report
        .settings
        .iter()
        .map(|(name, value)| {
            context! { name => shown(name), value => shown(&in_words(value)) }
        })
        .collect();
    let inputs: Vec<Value> = report
        .inputs
        .iter()
        .map(|input| {
            context! {
                path => shown(&input.path),
                rows => input.rows,
                sha256 => input.sha256.clone(),
            }
        })
        .collect();
    context! {
        command => report.command,
        version => env!("CARGO_PKG_VERSION"),
        settings,
        seeded => report.settings.contains_key("seed"),
        inputs,
        footer => footer.map(|sentence| shown(sentence)).collect::<Vec<_>>(),
    }
}

#[cfg(test)]
mod tests;
