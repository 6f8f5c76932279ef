//! From a report and its page to bytes, through the templates.

use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};

use super::super::{Cell, Exporter, Report, printable};
use super::embedded::{json_for_script, policy_hash};
use super::model::{Page, People};

/// People in the table that is there without scripts.
const PEOPLE_WITHOUT_SCRIPT: usize = 50;

/// Rows of a table that is shown as it is.
const MOST_TABLE_ROWS: usize = 2000;

/// Parts of the page, each with the data it shows; they are put together here.
const TEMPLATES: [(&str, &str); 5] = [
    ("report.html", include_str!("templates/report.html")),
    ("opening.html", include_str!("templates/opening.html")),
    ("people.html", include_str!("templates/people.html")),
    ("table.html", include_str!("templates/table.html")),
    ("provenance.html", include_str!("templates/provenance.html")),
];

const STYLE: &str = include_str!("templates/style.css");
const SCRIPT: &str = include_str!("templates/report.js");

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
        let table = if page.with_table {
            fill("table.html", table_values(report))?
        } else {
            Value::from(())
        };
        let whole = context! {
            title => shown(&page.title),
            style_hash => policy_hash(&style),
            script_hash => script.as_deref().map(policy_hash),
            style => Value::from_safe_string(style),
            script => script.map(Value::from_safe_string),
            opening => fill("opening.html", opening_values(report, page))?,
            people,
            figures => figures(&page.figures),
            table,
            provenance => fill("provenance.html", provenance_values(report, page))?,
            data => page.people.as_ref().map(|p| Value::from_safe_string(json_for_script(&p.index()))),
        };
        let whole = templates
            .get_template("report.html")
            .and_then(|template| template.render(whole))
            .map_err(io::Error::other)?;
        // The evidence is most of the file, so it is written line by line, not gathered first.
        let (before, after) = whole.split_once(DETAILS_MARK).unwrap_or((&whole, ""));
        out.write_all(before.as_bytes())?;
        if let Some(people) = &page.people {
            for person in 0..people.names.len() {
                out.write_all(json_for_script(&people.detail(person)).as_bytes())?;
                out.write_all(b"\n")?;
            }
        }
        out.write_all(after.as_bytes())
    }
}

/// Where the evidence goes in the rendered page. No value can hold it: `<` is escaped in all.
const DETAILS_MARK: &str = "<!--details-->";

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

fn all_shown(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| shown(text)).collect()
}

fn opening_values(report: &Report, page: &Page) -> Value {
    let warnings: Vec<Value> = report
        .warnings
        .iter()
        .map(|warning| context! { count => warning.count, message => shown(&warning.message) })
        .collect();
    context! {
        command => report.command,
        title => shown(&page.title),
        lead => all_shown(&page.lead),
        reading => all_shown(&page.reading),
        warnings,
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
    let rank = |person: usize| first.and_then(|view| view.rows[person].rank).unwrap_or(0);
    order.sort_by_key(|&person| (std::cmp::Reverse(rank(person)), person));
    let plain: Vec<Value> = order
        .iter()
        .take(PEOPLE_WITHOUT_SCRIPT)
        .filter_map(|&person| {
            let row = &first?.rows[person];
            let number = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.3}"));
            let (low, high) = row.interval.unzip();
            Some(context! {
                name => shown(&people.names[person]),
                score => number(row.score),
                low => number(low),
                high => number(high),
                rank => row.rank,
                flag => row.flag.as_deref().map(shown),
                count => row.count,
            })
        })
        .collect();
    context! {
        noun => people.noun,
        counted => people.counted,
        total => people.names.len(),
        charts,
        scatter,
        flags,
        plain,
    }
}

fn table_values(report: &Report) -> Value {
    let rows = report.table.rows();
    let shown_rows: Vec<Value> = rows
        .iter()
        .take(MOST_TABLE_ROWS)
        .map(|row| {
            let cells = row.iter().map(|cell| match cell {
                Cell::Missing => context! { text => "-", number => true },
                Cell::Text(text) => context! { text => shown(text), number => false },
                Cell::Integer(number) => context! { text => number.to_string(), number => true },
                Cell::Number(number) => context! { text => format!("{number:.3}"), number => true },
            });
            cells.collect::<Vec<_>>().into()
        })
        .collect();
    let left_out = rows.len() - shown_rows.len();
    context! { columns => report.table.columns().to_vec(), rows => shown_rows, left_out }
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
