//! Which of many Parquet files, and which row group of it, holds what an engine cannot read.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;

use caz::Error;
use caz::for_caz_sql::{Column, DataError, Problem, Problems, opened, row_group};

/// What is wrong with the `columns` that some of the files have, file by file: damage, a type that
/// differs from that in the first file, rows without a value. `None` if nothing is found, or the
/// path is none of this machine.
pub(super) fn problem(path: &Path, columns: &[Column]) -> Option<Error> {
    let mut problems = Problems::new();
    let mut first: Option<(PathBuf, Vec<(String, DataType)>)> = None;
    for file in files(path) {
        let looked = match look(&file, columns, &mut problems) {
            Ok(looked) => looked,
            Err(error) => return Some(error.into()),
        };
        let Some((of, known)) = &first else {
            first = Some((file, looked));
            continue;
        };
        for (name, kind) in &known[..] {
            let message = match looked.iter().find(|(other, _)| other == name) {
                None => format!("the column is missing; `{}` has it", of.display()),
                Some((_, other)) if other != kind => {
                    format!("holds {other}, in `{}` it holds {kind}", of.display())
                }
                Some(_) => continue,
            };
            push(&mut problems, &file, name, message);
        }
    }
    problems.into_result().err().map(Error::from)
}

/// The Parquet files of a folder, or the one file.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut files = Vec::new();
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let is_parquet = entry.extension().is_some_and(|ending| ending == "parquet");
        if entry.is_dir() {
            files.extend(self::files(&entry));
        } else if is_parquet {
            files.push(entry);
        }
    }
    files
}

/// Names and types of the columns that a file has.
fn look(
    path: &Path,
    columns: &[Column],
    problems: &mut Problems,
) -> Result<Vec<(String, DataType)>, DataError> {
    let open = || {
        let file = File::open(path)
            .map_err(|source| DataError::Unreadable { path: path.to_owned(), source })?;
        opened(path, file)
    };
    let builder = open()?;
    let wanted: Vec<usize> = (builder.schema().fields().iter().enumerate())
        .filter(|(_, field)| columns.iter().any(|column| column.matches(field.name())))
        .map(|(index, _)| index)
        .collect();
    let found = wanted.iter().map(|&index| {
        let field = builder.schema().field(index);
        (field.name().clone(), field.data_type().clone())
    });
    let found: Vec<(String, DataType)> = found.collect();
    for group in 0..builder.metadata().num_row_groups() {
        let builder = open()?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        let mut empty = vec![0; found.len()];
        for batch in row_group(path, builder.with_projection(mask), group)? {
            for (count, column) in empty.iter_mut().zip(batch?.columns()) {
                *count += blank(column);
            }
        }
        for ((name, _), count) in found.iter().zip(empty).filter(|(_, count)| *count > 0) {
            let message = format!("{count} rows of row group {} have no value", group + 1);
            push(problems, path, name, message);
        }
    }
    Ok(found)
}

/// Rows that are null or blank.
fn blank(column: &ArrayRef) -> usize {
    use arrow_array::cast::AsArray;
    let texts = match column.data_type() {
        kind if kind.is_numeric() => return column.null_count(),
        _ => cast(column, &DataType::Utf8),
    };
    match texts {
        Ok(texts) => {
            let texts = texts.as_string::<i32>().iter();
            texts.filter(|text| text.is_none_or(|text| text.trim().is_empty())).count()
        }
        Err(_) => column.null_count(),
    }
}

fn push(problems: &mut Problems, file: &Path, column: &str, message: String) {
    problems.push(Problem {
        file: file.display().to_string(),
        line: None,
        column: Some(column.to_owned()),
        message,
        remedy: None,
    });
}
