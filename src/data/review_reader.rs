//! Reads reviews and Z, and checks them together.

mod warnings;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::content::{CONTENT_COLUMNS, Content, ContentReader};
use super::duplicates::{Duplicates, second};
use super::ids::Ids;
use super::label_reader::{SAMPLE, SOURCE};
use super::near::quotable;
use super::nouns::Nouns;
use super::people::People;
use super::problem::{DataError, Problems};
use super::review_names::{Names, ReviewReading, are_places, per_paper};
use super::reviews::{Review, ReviewSet, ZReview};
use super::rows::{Column, FileProblems, header, read_rows};
use super::source::{Format, Source};
use super::task_texts::{TASK_TEXT, TaskTexts};
use super::times::{Clock, TIME_COLUMNS, Times};
use super::warning::{Warning, names_alike, names_rounded};
use crate::error::Remedy;

pub(super) const PAPER: Column = Column {
    name: "paper",
    synonyms: &["item", "task", "submission", "forum", "paper_id"],
    required: true,
};
pub(crate) const REVIEWER: Column = Column {
    name: "reviewer",
    synonyms: &["worker", "signature", "annotator", "reviewer_id"],
    required: true,
};

/// A review set with what the reader has to say about it.
#[derive(Debug, Clone)]
pub struct LoadedReviews {
    /// The reviews and Z.
    pub set: ReviewSet,
    /// Rows read from the reviews, then from every file of Z.
    pub rows: Vec<u64>,
    /// What was dropped or is missing.
    pub warnings: Vec<Warning>,
}

/// The files of a set of reviews, in caz's own form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReviewSources<'a> {
    /// Reviews by people.
    pub reviews: &'a Source,
    /// Those by LLMs.
    pub z: &'a [Source],
    /// What people and LLM had before them, and whether it was asked for.
    pub tasks: Option<(&'a Source, bool)>,
    /// Who is behind anonymous ids.
    pub people: &'a People,
    /// What people, texts and papers are called.
    pub nouns: Nouns,
}

/// Reads reviews and any number of Z files, and checks them together.
///
/// Reviews need `paper`, `reviewer` and one of `text`, `vector` and `judgments`; Z needs `paper`
/// and the same content, optionally `source` and `sample`. A Z without `source` is named after
/// its file. A Z of a paper that nobody reviewed is dropped with a warning; papers without Z and
/// papers with a single review are kept, with a warning, since they carry no pair to score.
///
/// # Errors
///
/// [`DataError::Invalid`] with every problem of every file.
pub fn read_reviews(
    reviews: &Source,
    z: &[Source],
    reading: impl Into<ReviewReading>,
) -> Result<LoadedReviews, DataError> {
    let people = &People::default();
    let sources = ReviewSources { reviews, z, tasks: None, people, nouns: Nouns::Reviews };
    read_review_sources(&sources, reading.into())
}

/// As [`read_reviews`]; reviewers whom a file of people knows go by the name of the person, and tasks
/// have their texts. `rows` has those of the tasks last.
///
/// # Errors
///
/// As [`read_reviews`].
pub(crate) fn read_review_sources(
    sources: &ReviewSources<'_>,
    reading: ReviewReading,
) -> Result<LoadedReviews, DataError> {
    let mut problems = Problems::new();
    let ReviewSources { z, nouns, .. } = *sources;
    let mut loader = Loader {
        people: sources.people,
        reading,
        set: ReviewSet { nouns, ..ReviewSet::default() },
        contents: ContentReader::default(),
        clocks: Vec::new(),
        second: Vec::new(),
        per_paper: None,
        tasks: TaskTexts::default(),
        replaced: 0,
        joined: 0,
        unknown_papers: Vec::new(),
        origins: BTreeMap::new(),
        lone_samples: Vec::new(),
        renumbered: 0,
        unknown_people: BTreeSet::new(),
        torn: BTreeSet::new(),
    };
    let mut rows = vec![loader.read_reviews(sources.reviews, &mut problems)];
    for source in z {
        let known = loader.set.sources.len();
        rows.push(loader.read_z(source, reading.duplicates, &mut problems));
        loader.set.sort_sources(known);
    }
    loader.number_samples();
    loader.check_papers(z, &mut problems);
    let mut warnings = Vec::new();
    if let Some((source, asked)) =
        sources.tasks.filter(|(_, asked)| *asked || loader.tasks.is_empty())
    {
        rows.push(loader.read_tasks(source, asked, &mut problems));
    }
    let has_texts = loader.set.reviews.iter().any(|review| review.content.text.is_some());
    if let Some(message) = loader.tasks.unlike(has_texts) {
        match sources.tasks {
            Some((source, true)) => {
                FileProblems::new(source, &mut problems).report(None, None, message);
            }
            _ => warnings.push(Warning::new("task_texts_unused", 1, message)),
        }
        loader.tasks = TaskTexts::default();
    }
    problems.into_result()?;
    warnings.extend(loader.warnings());
    loader.set.tasks = std::mem::take(&mut loader.tasks).into_contents(loader.set.papers.len());
    let names = |review: &Review| loader.set.reviewers.name(review.reviewer).to_owned();
    let clocks = loader.set.reviews.iter().zip(&loader.clocks);
    loader.set.times = Times::of(clocks.map(|(review, clock)| (names(review), *clock)));
    warnings.extend(loader.set.times.warning());
    loader.set.sort_by_name();
    let kinds = [(nouns.thing(), &loader.set.papers), (nouns.person(), &loader.set.reviewers)];
    for (what, names) in kinds {
        let what = format!("{what}s");
        warnings.extend(names_rounded(&what, names));
        warnings.extend(names_alike(&what, names));
    }
    let mut set = loader.set;
    set.shape = loader.contents.into_shape();
    Ok(LoadedReviews { set, rows, warnings })
}

struct Loader<'a> {
    people: &'a People,
    reading: ReviewReading,
    set: ReviewSet,
    contents: ContentReader,
    /// What each review says of time.
    clocks: Vec<Clock>,
    /// Second reviews of a name on a paper, each with its line and that of the first, until it is known
    /// whether a name is a person.
    second: Vec<(Review, u64, u64)>,
    /// How many names the file has, where each is another person on every paper.
    per_paper: Option<usize>,
    tasks: TaskTexts,
    replaced: usize,
    joined: usize,
    unknown_papers: Vec<String>,
    /// The sources of Z with a sample, by source and sample.
    origins: BTreeMap<String, String>,
    /// Samples that stand on one paper only, where others of their source stand on several.
    lone_samples: Vec<String>,
    /// Z whose samples were numbered anew.
    renumbered: usize,
    /// Reviewers whom a file of people does not know.
    unknown_people: BTreeSet<String>,
    /// Papers of two area chairs.
    torn: BTreeSet<String>,
}

impl Loader<'_> {
    fn read_reviews(&mut self, source: &Source, problems: &mut Problems) -> u64 {
        /// The place of the text of the task among the columns; those of times follow.
        const TASK: usize = 5;
        let [text, vector, judgments] = CONTENT_COLUMNS;
        let schema =
            [&[PAPER, REVIEWER, text, vector, judgments, TASK_TEXT], &TIME_COLUMNS[..]].concat();
        let mut seen = Seen::new();
        let mut problems = FileProblems::new(source, problems);
        if !has_content(source, &mut problems) {
            return read_rows(source, &schema, &mut problems, &mut |_, _| {});
        }
        let duplicates = self.reading.duplicates;
        let nouns = self.set.nouns;
        let rows = read_rows(source, &schema, &mut problems, &mut |row, problems| {
            let Some(paper) = row.name(0, &PAPER, problems) else { return };
            let Some(reviewer) = row.name(1, &REVIEWER, problems) else { return };
            if self.people.rows > 0 && !self.people.knows(&reviewer) {
                self.unknown_people.insert(reviewer.to_string());
            }
            if let Some(chair) = self.people.chair(&reviewer) {
                let first =
                    self.set.chairs.entry(paper.to_string()).or_insert_with(|| chair.to_owned());
                if first != chair {
                    self.torn.insert(paper.to_string());
                }
            }
            let reviewer = self.people.person(&reviewer).to_owned();
            let Some(content) = self.contents.read(row, 2, problems) else { return };
            let key = (self.set.papers.intern(&paper), self.set.reviewers.intern(&reviewer));
            if let Some(text) = row.fields[TASK].as_text() {
                self.tasks.see(key.0, text.trim());
            }
            let review = Review { paper: key.0, reviewer: key.1, content };
            if duplicates == Duplicates::Error
                && let Some(&(_, first)) = seen.get(&key)
            {
                self.clocks.push(Clock::of(row, TASK + 1));
                self.second.push((review, row.line, first));
                return;
            }
            let refuse = |first| {
                let message = second(&who(nouns, &reviewer, &paper), first);
                problems.report_solvable(row.line, message, Remedy::ChooseDuplicates);
            };
            let reviews = (&mut seen, &mut self.set.reviews);
            let was = place(reviews, (key, row.line), review, duplicates, refuse);
            if was == Placed::First {
                self.clocks.push(Clock::of(row, TASK + 1));
            }
            self.count(was);
        });
        if !self.tasks.is_empty() {
            let columns = header(source);
            let column = columns.iter().find(|name| TASK_TEXT.matches(name));
            let column = column.map_or(TASK_TEXT.name, String::as_str);
            self.tasks.from(format!("column `{}` of `{}`", quotable(column), source.name()));
            let mut reviews_of = BTreeMap::new();
            for review in &self.set.reviews {
                *reviews_of.entry(review.paper).or_insert(0) += 1;
            }
            if self.tasks.differ(&reviews_of) {
                let message = "differs between the reviews of one paper as much as they do; it has to be \
                               what all of them are about";
                problems.report(None, Some(TASK_TEXT.name), nouns.said(message));
            }
        }
        self.settle_names(&mut problems);
        rows
    }

    /// Decides whether a name is a person, and what second reviews of a name on a paper are.
    fn settle_names(&mut self, problems: &mut FileProblems<'_>) {
        let second = std::mem::take(&mut self.second);
        let all = self.set.reviews.iter().chain(second.iter().map(|(review, ..)| review));
        let per_paper_now = match self.reading.names {
            Names::Global => false,
            Names::PerPaper => true,
            // Whoever says what to do with a second review of a person, or who is who, has persons.
            Names::Auto => {
                self.people.rows == 0 && self.reading.duplicates == Duplicates::Error && {
                    let pairs: Vec<_> = all.map(|review| (review.paper, review.reviewer)).collect();
                    are_places(&pairs, &self.set.reviewers)
                }
            }
        };
        if !per_paper_now {
            let remedy = match self.reading.names {
                Names::Auto => Remedy::ChooseNames,
                Names::Global | Names::PerPaper => Remedy::ChooseDuplicates,
            };
            for (review, line, first) in second {
                let name = self.set.reviewers.name(review.reviewer);
                let who = who(self.set.nouns, name, self.set.papers.name(review.paper));
                problems.report_solvable(line, super::duplicates::second(&who, first), remedy);
            }
            return;
        }
        self.per_paper = Some(self.set.reviewers.len());
        self.set.reviews.extend(second.into_iter().map(|(review, ..)| review));
        let names = std::mem::take(&mut self.set.reviewers);
        self.set.reviewers = per_paper(&mut self.set.reviews, &self.set.papers, &names);
    }

    /// Reads what people and LLM had before them.
    fn read_tasks(&mut self, source: &Source, asked: bool, problems: &mut Problems) -> u64 {
        self.tasks = TaskTexts::default();
        let rows = self.tasks.read(source, &self.set.papers, &mut self.contents, problems);
        if asked {
            self.tasks.check(source, &self.set.papers, problems);
        }
        rows
    }

    fn read_z(&mut self, source: &Source, duplicates: Duplicates, problems: &mut Problems) -> u64 {
        let [text, vector, judgments] = CONTENT_COLUMNS;
        let schema = [PAPER, SOURCE, SAMPLE, text, vector, judgments];
        let mut seen = Seen::new();
        let mut problems = FileProblems::new(source, problems);
        if !has_content(source, &mut problems) {
            return read_rows(source, &schema, &mut problems, &mut |_, _| {});
        }
        let stem = source.stem();
        let earlier = self.set.sources.len();
        read_rows(source, &schema, &mut problems, &mut |row, problems| {
            let Some(paper) = row.name(0, &PAPER, problems) else { return };
            let Some(content) = self.contents.read(row, 3, problems) else { return };
            let Some(paper_id) = self.set.papers.get(&paper) else {
                self.unknown_papers.push(paper.into());
                return;
            };
            let origin = row.fields[1].as_name().map_or_else(|| stem.clone(), Into::into);
            let origin = match row.fields[2].as_name() {
                Some(sample) => {
                    let sampled = format!("{origin}/{sample}");
                    self.origins.insert(sampled.clone(), origin);
                    sampled
                }
                None => origin,
            };
            let key = (paper_id, self.set.sources.intern(&origin));
            if (key.1 as usize) < earlier {
                let message = format!(
                    "`{}` is the name of a source in an earlier file of Z; \
                     give the files different names, or their rows a `source`",
                    quotable(&origin)
                );
                problems.report(Some(row.line), Some("source"), message);
                return;
            }
            let review = ZReview { paper: key.0, source: key.1, content };
            let refuse = |first| {
                let who = format!(
                    "`{}` {} `{}`; number independent ones in a column `sample`",
                    quotable(&origin),
                    self.set.nouns.said("has a second review of"),
                    quotable(&paper)
                );
                problems.report_solvable(row.line, second(&who, first), Remedy::ChooseDuplicates);
            };
            let z = (&mut seen, &mut self.set.z);
            let was = place(z, (key, row.line), review, duplicates, refuse);
            self.count(was);
        })
    }

    /// Numbers samples anew on each paper where a source has Z of several papers and no sample of two:
    /// with samples numbered through its file, nothing would show what it writes on other papers.
    fn number_samples(&mut self) {
        let mut papers_of = vec![BTreeSet::new(); self.set.sources.len()];
        self.set.z.iter().for_each(|z| {
            papers_of[z.source as usize].insert(z.paper);
        });
        let mut samples_of: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (number, name) in (0..).zip(self.set.sources.names()) {
            if let Some(origin) = self.origins.get(name) {
                samples_of.entry(origin).or_default().push(number);
            }
        }
        let mut names = self.set.sources.names().to_vec();
        for (origin, samples) in samples_of {
            let on: Vec<u32> =
                samples.iter().flat_map(|&sample| &papers_of[sample as usize]).copied().collect();
            let is_spread = on.iter().any(|paper| *paper != on[0]);
            if !is_spread {
                continue;
            }
            if on.len() > samples.len() {
                let is_lone = |sample: &&u32| papers_of[**sample as usize].len() == 1;
                let lone = samples.iter().filter(is_lone).map(|&sample| &names[sample as usize]);
                self.lone_samples.extend(lone.cloned());
                continue;
            }
            let mut counts = BTreeMap::new();
            let anew: Vec<String> = on
                .iter()
                .map(|paper| {
                    let count = counts.entry(paper).or_insert(0);
                    *count += 1;
                    format!("{origin}/{count}")
                })
                .collect();
            let is_taken = |name: &String| {
                self.set
                    .sources
                    .get(name)
                    .is_some_and(|number| samples.binary_search(&number).is_err())
            };
            if anew.iter().any(is_taken) {
                continue;
            }
            self.renumbered += samples.len();
            for (sample, name) in samples.into_iter().zip(anew) {
                names[sample as usize] = name;
            }
        }
        if self.renumbered == 0 {
            return;
        }
        let sources: Ids = names.iter().collect();
        for z in &mut self.set.z {
            z.source = sources.get(&names[z.source as usize]).expect("named above");
        }
        self.set.sources = sources;
    }

    /// Refuses Z of which none is of a paper that was reviewed: the files name papers differently.
    fn check_papers(&self, z: &[Source], problems: &mut Problems) {
        let (Some(unknown), true) = (self.unknown_papers.first(), self.set.z.is_empty()) else {
            return;
        };
        let (Some(known), Some(source)) = (self.set.papers.names().first(), z.first()) else {
            return;
        };
        let message = format!(
            "none of {} Z is of a paper that was reviewed: papers are named like `{}` here \
             and like `{}` in the reviews; name them alike in both",
            self.unknown_papers.len(),
            quotable(unknown),
            quotable(known)
        );
        FileProblems::new(source, problems).report(None, Some("paper"), message);
    }

    fn count(&mut self, was: Placed) {
        self.replaced += usize::from(was == Placed::Second);
        self.joined += usize::from(was == Placed::Joined);
    }
}

/// That somebody has two reviews, in words.
fn who(nouns: Nouns, reviewer: &str, paper: &str) -> String {
    let second = nouns.said("has a second review of");
    format!("{} `{}` {second} `{}`", nouns.person(), quotable(reviewer), quotable(paper))
}

/// Whether a table has a column for the content of reviews; one problem if it has none, and not one
/// for every row.
fn has_content(source: &Source, problems: &mut FileProblems<'_>) -> bool {
    if source.format == Format::JsonLines {
        return true;
    }
    let names = header(source);
    let found = names.iter().any(|name| CONTENT_COLUMNS.iter().any(|c| c.matches(name)));
    if !found && !names.is_empty() {
        let [text, ..] = CONTENT_COLUMNS;
        problems.report_missing(&text, " (or a `vector` or `judgments`)", &names);
    }
    found || names.is_empty()
}

/// What the reviews of one file are told apart by, with the place and line of each.
type Seen = HashMap<(u32, u32), (usize, u64)>;

/// What became of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placed {
    First,
    Second,
    Joined,
}

/// What was handed in, by a person or an LLM.
trait HandedIn {
    fn content(&mut self) -> &mut Content;
}

impl HandedIn for Review {
    fn content(&mut self) -> &mut Content {
        &mut self.content
    }
}

impl HandedIn for ZReview {
    fn content(&mut self) -> &mut Content {
        &mut self.content
    }
}

/// Puts a review at the end, or where the first one of its key is.
fn place<T: HandedIn>(
    (seen, all): (&mut Seen, &mut Vec<T>),
    (key, line): ((u32, u32), u64),
    mut review: T,
    duplicates: Duplicates,
    refuse: impl FnOnce(u64),
) -> Placed {
    let (position, first_line) = *seen.entry(key).or_insert((all.len(), line));
    if position == all.len() {
        all.push(review);
        return Placed::First;
    }
    if duplicates == Duplicates::Join && all[position].content().join(review.content()) {
        return Placed::Joined;
    }
    duplicates.settle(&mut all[position], review, || refuse(first_line));
    Placed::Second
}

#[cfg(test)]
mod tests;
