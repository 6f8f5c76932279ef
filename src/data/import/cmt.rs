//! `Reviews.xls` of CMT: an XML spreadsheet, with the header in its third row.
//!
//! After a sample in Rankings-UI.

use super::elements::Broken;
use super::error::ImportError;
use super::forms::{Form, read_forms};
use super::importer::{Importer, Request};
use super::output::Output;
use super::peek::{Peek, Root};

/// Rows of one file: a guard against a file that repeats cells without end.
const MOST_COLUMNS: usize = 4096;

pub(super) struct Cmt;

impl Importer for Cmt {
    fn detect(&self, peek: &Peek<'_>) -> bool {
        matches!(peek.root, Root::Xml)
            && memchr::memmem::find(peek.bytes, b"urn:schemas-microsoft-com:office:spreadsheet")
                .is_some()
    }

    fn read(&self, request: &Request<'_>, output: &mut Output) -> Result<(), ImportError> {
        let text = String::from_utf8_lossy(request.peek.bytes);
        if !text.trim_end().ends_with("</Workbook>") {
            let message = "the end of the workbook is missing".to_owned();
            return Err(request.broken(Broken { after: 0, message }));
        }
        let each = |visit: &mut dyn FnMut(Form<'_>)| {
            let mut place = 0;
            each_row(&text, &mut |header, cells| {
                place += 1;
                visit(form(place, header, cells));
            });
            Ok(0)
        };
        if !has_header(&text) {
            return Err(request.columns("no worksheet has a row with `Paper ID`".into()));
        }
        read_forms(&each, request, output)
    }
}

/// The rows under the header of every worksheet: there is one per track, each with its own header.
fn each_row(text: &str, visit: &mut dyn FnMut(&[String], &[String])) {
    for sheet in blocks(text, "Worksheet") {
        let mut header: Vec<String> = Vec::new();
        for row in blocks(sheet, "Row") {
            // A cell says itself where it stands; none stands right of the header.
            let most = if header.is_empty() { MOST_COLUMNS } else { header.len() };
            let cells = cells_of(row, most);
            if header.is_empty() {
                if cells.iter().any(|cell| cell == "Paper ID") {
                    header = cells;
                }
            } else if cells.iter().any(|cell| !cell.trim().is_empty()) {
                visit(&header, &cells);
            }
        }
    }
}

/// Whether a worksheet has a header.
fn has_header(text: &str) -> bool {
    blocks(text, "Worksheet").any(|sheet| {
        blocks(sheet, "Row")
            .any(|row| cells_of(row, MOST_COLUMNS).iter().any(|cell| cell == "Paper ID"))
    })
}

fn form<'a>(place: u64, header: &'a [String], cells: &'a [String]) -> Form<'a> {
    let cell = |name: &str| {
        let position = header.iter().position(|other| other == name)?;
        cells.get(position).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    };
    let fields = header.iter().zip(cells).filter(|(name, _)| is_answer(header, name));
    Form {
        place,
        paper: cell("Paper ID").map(str::to_owned),
        reviewer: cell("Reviewer Email").or_else(|| cell("Reviewer Number")).map(str::to_owned),
        fields: fields.map(|(name, text)| (name.as_str(), text.as_str())).collect(),
        ..Form::default()
    }
}

/// `Q1 (Summary)`, but not where `Q1 (Rating) - Value` stands beside it: that is a choice.
fn is_answer(header: &[String], name: &str) -> bool {
    let question =
        name.strip_prefix('Q').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let twin = format!("{name} - Value");
    question && !name.ends_with(" - Value") && !header.contains(&twin)
}

/// The content of every element of this name that is not inside another one of the same name.
fn blocks<'a>(xml: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let mut rest = xml;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(&format!("<{name}"))?;
            let after = &rest[start + name.len() + 1..];
            // `<Rows` is no `<Row`.
            if !after.starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace()) {
                rest = after;
                continue;
            }
            let open = after.find('>')?;
            if after[..open].ends_with('/') {
                rest = &after[open + 1..];
                return Some(&after[..open]);
            }
            let body = &after[open + 1..];
            let end = body.find(&format!("</{name}>")).unwrap_or(body.len());
            rest = &body[end..];
            // The attributes come along: cells need them.
            return Some(&after[..open + 1 + end]);
        }
    })
}

fn cells_of(row: &str, most: usize) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for cell in blocks(row, "Cell") {
        let head = cell.split('>').next().unwrap_or_default();
        // Empty cells are left out, and the next one says where it stands, from 1.
        if let Some(index) =
            attribute(head, "ss:Index").and_then(|index| index.parse::<usize>().ok())
            && index > cells.len() + 1
        {
            if index > most {
                break;
            }
            cells.resize(index - 1, String::new());
        }
        let data = blocks(cell, "Data").next().unwrap_or_default();
        let text = data.split_once('>').map_or("", |(_, text)| text);
        cells.push(unescaped(text));
        if cells.len() >= most {
            break;
        }
    }
    cells
}

fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let rest = &head[head.find(name)? + name.len()..];
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest[1..].split(quote).next()
}

/// Text without entities and without marks of rich text.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find(['&', '<']) {
        plain.push_str(&rest[..position]);
        rest = &rest[position..];
        if rest.starts_with('<') {
            rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
            continue;
        }
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(end, _)| end);
        let character = end.and_then(|end| entity(&rest[1..end]));
        if let (Some(character), Some(end)) = (character, end) {
            plain.push(character);
            rest = &rest[end + 1..];
        } else {
            plain.push('&');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    plain
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}
