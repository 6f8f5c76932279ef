//! Reviews by people, and Z: the reviews that an LLM wrote of the same papers.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::content::{Content, ContentShape};
use super::ids::Ids;
use super::near::quotable;
use super::nouns::Nouns;
use super::times::Times;
use super::z::by_name;

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

    /// What the text at this place of [`Self::contents`] is, in words.
    pub(crate) fn content_name(&self, place: usize) -> Option<String> {
        let of =
            |what: &str, paper: u32| format!("{what} on `{}`", quotable(self.papers.name(paper)));
        if let Some(review) = self.reviews.get(place) {
            let who = quotable(self.reviewers.name(review.reviewer));
            return Some(of(&format!("the {} by `{who}`", self.nouns.text()), review.paper));
        }
        let z = self.z.get(place - self.reviews.len())?;
        Some(of(&format!("the Z `{}`", quotable(self.sources.name(z.source))), z.paper))
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
    pub(super) fn sort_by_name(&mut self) {
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
    pub(super) fn sort_sources(&mut self, first: usize) {
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
