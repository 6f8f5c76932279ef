//! Reviews by people, and Z: the reviews that an LLM wrote of the same papers.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::content::{CONTENT_COLUMNS, Content, ContentReader, ContentShape};
use super::duplicates::{Duplicates, second};
use super::ids::Ids;
use super::label_reader::{SAMPLE, SOURCE};
use super::near::quotable;
use super::nouns::Nouns;
use super::people::People;
use super::problem::{DataError, Problems};
use super::review_names::{Names, ReviewReading, are_places, per_paper};
use super::rows::{Column, FileProblems, header, read_rows};
use super::source::{Format, Source};
use super::task_texts::{TASK_TEXT, TaskTexts};
use super::times::{Clock, TIME_COLUMNS, Times};
use super::warning::{Warning, first_names, names_alike, names_alike_between, names_rounded};
use super::z::by_name;
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

/// A review of one paper by one reviewer.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// Number of the paper in [`ReviewSet::papers`].
    pub paper: u32,
    /// Number of the reviewer in [`ReviewSet::reviewers`].
    pub reviewer: u32,
    /// What was handed in.
    pub content: Content,
}

/// One LLM review of one paper.
#[derive(Debug, Clone, PartialEq)]
pub struct ZReview {
    /// Number of the paper in [`ReviewSet::papers`].
    pub paper: u32,
    /// Number of the LLM and sample it came from, in [`ReviewSet::sources`].
    pub source: u32,
    /// What the LLM wrote.
    pub content: Content,
}

/// All reviews of a run and the LLM reviews of the same papers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewSet {
    /// Papers; from files in the order of their names.
    pub papers: Ids,
    /// Reviewers; from files in the order of their names.
    pub reviewers: Ids,
    /// `source` or `source/sample` of every Z, in order of files, inside a file of names.
    pub sources: Ids,
    /// At most one per paper and reviewer; from files by paper, then by reviewer.
    pub reviews: Vec<Review>,
    /// At most one per paper and source; from files by paper, then by source.
    pub z: Vec<ZReview>,
    /// What people and LLM had before them, by the number of the paper: the abstract, the question.
    /// `None` for a paper without; papers past the end have none, so empty says that none were given.
    pub tasks: Vec<Option<Content>>,
    /// What all contents have in common.
    pub shape: ContentShape,
    /// What people, texts and papers are called.
    pub nouns: Nouns,
    /// How long people worked, by their names.
    pub times: Times,
    /// Area chairs by the names of the papers that they are in charge of, where the file of people names
    /// any.
    pub chairs: BTreeMap<String, String>,
}

impl ReviewSet {
    /// Contents of the reviews, then of the Z: the order of the vectors of a set.
    pub(crate) fn contents(&self) -> impl Iterator<Item = &Content> {
        let reviews = self.reviews.iter().map(|review| &review.content);
        reviews.chain(self.z.iter().map(|z| &z.content))
    }

    /// Places of the reviews of each reviewer, by the reviewer's number.
    pub(crate) fn reviews_of_each(&self) -> Vec<Vec<usize>> {
        let mut places = vec![Vec::new(); self.reviewers.len()];
        for (place, review) in self.reviews.iter().enumerate() {
            places[review.reviewer as usize].push(place);
        }
        places
    }

    /// The text of the task of a paper, where one was given.
    pub(crate) fn task_text(&self, paper: u32) -> Option<&str> {
        self.tasks.get(paper as usize)?.as_ref()?.text.as_deref()
    }

    /// Numbers papers and reviewers in the order of their names and sorts reviews and Z by number,
    /// so that sums, ties and random numbers do not depend on the order of the rows. Sources keep
    /// their numbers.
    fn sort_by_name(&mut self) {
        let (papers, new_papers) = std::mem::take(&mut self.papers).sorted();
        let (reviewers, new_reviewers) = std::mem::take(&mut self.reviewers).sorted();
        (self.papers, self.reviewers) = (papers, reviewers);
        for review in &mut self.reviews {
            review.paper = new_papers[review.paper as usize];
            review.reviewer = new_reviewers[review.reviewer as usize];
        }
        self.z.iter_mut().for_each(|z| z.paper = new_papers[z.paper as usize]);
        let mut tasks = vec![None; if self.tasks.is_empty() { 0 } else { new_papers.len() }];
        for (task, &paper) in std::mem::take(&mut self.tasks).into_iter().zip(&new_papers) {
            tasks[paper as usize] = task;
        }
        self.tasks = tasks;
        self.reviews.sort_by_key(|review| (review.paper, review.reviewer));
        self.z.sort_by_key(|z| (z.paper, z.source));
    }

    /// Numbers the sources from `first` on in the order of their names.
    fn sort_sources(&mut self, first: usize) {
        let mut names: Vec<String> = self.sources.names()[first..].to_vec();
        names.sort_by(|a, b| by_sample(a, b));
        let sources: Ids = self.sources.names()[..first].iter().chain(&names).collect();
        for z in &mut self.z {
            z.source = sources.get(self.sources.name(z.source)).expect("the same names");
        }
        self.sources = sources;
    }
}

/// Sources by name, samples of one source in the order of samples.
fn by_sample(a: &str, b: &str) -> Ordering {
    match (a.rsplit_once('/'), b.rsplit_once('/')) {
        (Some((a, first)), Some((b, second))) => a.cmp(b).then_with(|| by_name(first, second)),
        _ => a.cmp(b),
    }
}

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
        unknown_people: BTreeSet::new(),
        torn: BTreeSet::new(),
    };
    let mut rows = vec![loader.read_reviews(sources.reviews, &mut problems)];
    for source in z {
        let known = loader.set.sources.len();
        rows.push(loader.read_z(source, reading.duplicates, &mut problems));
        loader.set.sort_sources(known);
    }
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
                let message = second(&who(&reviewer, &paper), first);
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
                problems.report(None, Some(TASK_TEXT.name), message);
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
                let who = who(name, self.set.papers.name(review.paper));
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
                Some(sample) => format!("{origin}/{sample}"),
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
                    "`{}` has a second review of `{}`; \
                     number independent ones in a column `sample`",
                    quotable(&origin),
                    quotable(&paper)
                );
                problems.report_solvable(row.line, second(&who, first), Remedy::ChooseDuplicates);
            };
            let z = (&mut seen, &mut self.set.z);
            let was = place(z, (key, row.line), review, duplicates, refuse);
            self.count(was);
        })
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

    fn warnings(&self) -> Vec<Warning> {
        let set = &self.set;
        let nouns = set.nouns;
        let mut warnings: Vec<Warning> = self.contents.warning().into_iter().collect();
        if self.replaced > 0 {
            let message = format!("{} duplicate reviews were dropped", self.replaced);
            warnings.push(Warning::new("duplicates_dropped", self.replaced, message));
        }
        if let Some(names) = self.per_paper {
            let (people, reviews) =
                (nouns.people(set.reviewers.len()), nouns.texts(set.reviews.len()));
            let message = format!(
                "the {names} names are taken to be given anew on every {}, so that {} and name together \
                 are the person: {people} with {reviews}",
                nouns.thing(),
                nouns.thing(),
            );
            let warning = Warning::new("names_per_paper", set.reviewers.len(), message);
            warnings.push(warning.with_remedy(Remedy::SayNames));
        }
        warnings.extend(self.tasks.warnings(&set.papers, nouns));
        if self.joined > 0 {
            let message = format!(
                "{} texts were joined to an earlier one of the same paper and reviewer",
                self.joined
            );
            warnings.push(Warning::new("reviews_joined", self.joined, message));
        }
        if !self.unknown_people.is_empty() {
            let unknown: Vec<&String> = self.unknown_people.iter().collect();
            let message = format!(
                "{} reviewers are not in the file of people and keep their names: {}",
                unknown.len(),
                first_names(&unknown)
            );
            warnings.push(Warning::new("people_unknown", unknown.len(), message));
        }
        if !self.torn.is_empty() {
            let torn: Vec<&String> = self.torn.iter().collect();
            let message = format!(
                "{} of two area chairs stand with the first: {}",
                nouns.things(torn.len()),
                first_names(&torn)
            );
            warnings.push(Warning::new("two_area_chairs", torn.len(), message));
        }
        if !self.unknown_papers.is_empty() {
            let count = self.unknown_papers.len();
            let papers: BTreeSet<&String> = self.unknown_papers.iter().collect();
            let papers: Vec<&String> = papers.into_iter().collect();
            let names = first_names(&papers);
            let message = format!("{count} Z reviews are of papers that nobody reviewed: {names}");
            warnings.push(Warning::new("z_of_unknown_papers", count, message));
            let unknown: Ids = papers.iter().copied().collect();
            let what = format!("{}s of Z", nouns.thing());
            warnings.extend(names_rounded(&what, &unknown));
            let unknown = papers.iter().map(|paper| paper.as_str());
            warnings.extend(names_alike_between(&what, &set.papers, unknown));
        }
        let mut reviews_of = vec![0_usize; set.papers.len()];
        let mut has_z = vec![false; set.papers.len()];
        set.reviews.iter().for_each(|review| reviews_of[review.paper as usize] += 1);
        set.z.iter().for_each(|z| has_z[z.paper as usize] = true);
        let papers_where = |wanted: &dyn Fn(usize) -> bool| -> Vec<&str> {
            (0..set.papers.len())
                .filter(|&paper| wanted(paper))
                .map(|paper| set.papers.names()[paper].as_str())
                .collect()
        };
        let without_z = papers_where(&|paper| !has_z[paper]);
        if !without_z.is_empty() {
            let count = without_z.len();
            let pairs: usize = (0..set.papers.len())
                .filter(|&paper| !has_z[paper])
                .map(|paper| reviews_of[paper] * reviews_of[paper].saturating_sub(1) / 2)
                .sum();
            let message = format!(
                "{count} of {} papers have no Z; their {pairs} pairs of reviews are left out of \
                 the scores that need it: {}",
                set.papers.len(),
                first_names(&without_z)
            );
            warnings.push(Warning::new("papers_without_z", count, message));
        }
        let single = papers_where(&|paper| reviews_of[paper] == 1);
        if !single.is_empty() {
            let count = single.len();
            let names = first_names(&single);
            let message =
                format!("{count} papers have a single review, which no peer can support: {names}");
            warnings.push(Warning::new("papers_with_one_review", count, message));
        }
        warnings
    }
}

/// That somebody has two reviews, in words.
fn who(reviewer: &str, paper: &str) -> String {
    format!("reviewer `{}` has a second review of `{}`", quotable(reviewer), quotable(paper))
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
mod tests {
    use super::*;
    use std::path::Path;

    fn source(name: &str, text: &str) -> Source {
        Source::from_reader(Path::new(name), text.as_bytes()).unwrap()
    }

    fn load(reviews: &str, z: &str) -> Result<LoadedReviews, DataError> {
        let z = source("gpt.jsonl", z);
        read_reviews(&source("r.jsonl", reviews), &[z], Duplicates::Error)
    }

    fn problem(reviews: &str, z: &str) -> String {
        let DataError::Invalid(problems) = load(reviews, z).unwrap_err() else {
            panic!("not a problem of the content")
        };
        assert_eq!(problems.total(), 1, "{problems}");
        problems.shown()[0].to_string()
    }

    const REVIEW: &str = "{\"paper\":\"p\",\"reviewer\":\"a\",\"text\":\"x\"}\n";
    const Z: &str = "{\"paper\":\"p\",\"text\":\"z\"}\n";

    fn vector(reviewer: &str, vector: &str) -> String {
        format!("{{\"paper\":\"p\",\"reviewer\":\"{reviewer}\",\"vector\":{vector}}}\n")
    }

    fn judgments(reviewer: &str, judgments: &str) -> String {
        format!("{{\"paper\":\"p\",\"reviewer\":\"{reviewer}\",\"judgments\":{judgments}}}\n")
    }

    #[test]
    fn synonyms_sources_and_samples_are_read_from_csv() {
        let reviews = source("r.csv", "submission,signature,text\n7,a,one\n7,b,two\n");
        let z = source("z.csv", "forum,text,model,sample\n7,zed,gpt,1\n7,zee,gpt,2\n");
        let loaded = read_reviews(&reviews, &[z], Duplicates::Error).unwrap();
        assert_eq!(loaded.set.papers.names(), ["7"]);
        assert_eq!(loaded.set.reviewers.names(), ["a", "b"]);
        assert_eq!(loaded.set.sources.names(), ["gpt/1", "gpt/2"]);
        assert_eq!(loaded.rows, [2, 2]);
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    }

    #[test]
    fn a_source_is_named_after_its_file_and_may_not_come_from_two() {
        assert_eq!(load(REVIEW, Z).unwrap().set.sources.names(), ["gpt"]);
        let files = [source("a/gpt.jsonl", Z), source("b/gpt.jsonl", Z)];
        let error = read_reviews(&source("r.jsonl", REVIEW), &files, Duplicates::Error);
        assert!(error.unwrap_err().to_string().contains("give the files different names"));
    }

    #[test]
    fn duplicates_are_an_error_unless_one_is_chosen() {
        let twice = format!("{REVIEW}{}", REVIEW.replace("\"x\"", "\"y\""));
        let message = problem(&twice, Z);
        assert!(message.starts_with("r.jsonl:2: reviewer `a` has a second review of `p`"));
        assert!(message.contains("the first is in line 1"), "{message}");
        for (choice, text) in [(Duplicates::First, "x"), (Duplicates::Last, "y")] {
            let loaded =
                read_reviews(&source("r.jsonl", &twice), &[source("z.jsonl", Z)], choice).unwrap();
            assert_eq!(loaded.set.reviews.len(), 1);
            assert_eq!(loaded.set.reviews[0].content.text.as_deref(), Some(text));
            assert_eq!(loaded.warnings[0].code, "duplicates_dropped");
        }
    }

    #[test]
    fn blank_text_is_a_problem() {
        let message = problem("{\"paper\":\"p\",\"reviewer\":\"a\",\"text\":\" \\n\"}\n", Z);
        assert!(message.starts_with("r.jsonl:1: column `text`: is empty"), "{message}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_problems() {
        let csv = source("r.csv", "paper,reviewer,vector\np,a,1 NaN\np,b,1;-inf\np,c,1 x\n");
        let error = read_reviews(&csv, &[], Duplicates::Error).unwrap_err().to_string();
        assert!(error.contains("r.csv:2: column `vector`: entry 2 is NaN"), "{error}");
        assert!(error.contains("r.csv:3: column `vector`: entry 2 is -inf"), "{error}");
        assert!(error.contains("r.csv:4: column `vector`: entry 2 is `x`"), "{error}");
    }

    #[test]
    fn vectors_of_two_lengths_are_a_problem_also_across_files() {
        let z = "{\"paper\":\"p\",\"vector\":[1,2]}\n";
        let message = problem(&(vector("a", "[1,2]") + &vector("b", "[1,2,3]")), z);
        assert!(message.contains("r.jsonl:2: column `vector`: has 3 numbers"), "{message}");
        let message = problem(&vector("a", "[1]"), z);
        assert!(message.starts_with("gpt.jsonl:1: column `vector`: has 2 numbers"), "{message}");
    }

    #[test]
    fn judgments_are_read_by_name_and_must_be_complete_and_in_range() {
        let z = "{\"paper\":\"p\",\"judgments\":{\"A\":1,\"B\":-1}}\n";
        let first = judgments("a", "{\"B\":0.5,\"A\":0}");
        let loaded = load(&first, z).unwrap();
        assert_eq!(loaded.set.shape.categories, ["A", "B"]);
        assert_eq!(loaded.set.reviews[0].content.judgments, Some(vec![0.0, 0.5]));
        for (bad, part) in [
            ("{\"A\":1}", "lacks the category `B`"),
            ("{\"A\":1,\"B\":0,\"C\":0}", "has the category `C`"),
            ("{\"A\":2,\"B\":0}", "must be a number from -1 to 1"),
            ("[1]", "is not an object but a list"),
        ] {
            let message = problem(&(first.clone() + &judgments("b", bad)), z);
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_paper_with_several_z_is_named_once() {
        let other = |source| Z.replace("\"p\"", &format!("\"other\",\"source\":\"{source}\""));
        let loaded = load(REVIEW, &format!("{Z}{}{}", other("a"), other("b"))).unwrap();
        let warning = &loaded.warnings[0];
        assert_eq!((warning.code, warning.count), ("z_of_unknown_papers", 2));
        assert_eq!(warning.message, "2 Z reviews are of papers that nobody reviewed: other");
    }

    #[test]
    fn z_of_which_no_paper_is_known_is_refused_with_both_ways_to_name_papers() {
        let message = problem(REVIEW, &Z.replace("\"p\"", "\"paper-001\""));
        let part = "none of 1 Z is of a paper that was reviewed: papers are named like `paper-001` \
                    here and like `p` in the reviews";
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn unknown_papers_papers_without_z_and_single_reviews_are_counted() {
        let reviews = format!("{REVIEW}{}", REVIEW.replace("\"p\"", "\"q\""));
        let z = format!("{Z}{}", Z.replace("\"p\"", "\"other\""));
        let loaded = load(&reviews, &z).unwrap();
        let codes: Vec<_> = loaded.warnings.iter().map(|w| (w.code, w.count)).collect();
        assert_eq!(
            codes,
            [("z_of_unknown_papers", 1), ("papers_without_z", 1), ("papers_with_one_review", 2)]
        );
        assert_eq!(loaded.set.z.len(), 1);
    }
}
