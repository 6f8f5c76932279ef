//! What is said of a person first, in words: the same on a terminal and on the page.

use super::{ReviewsRun, own};
use crate::text::own::{Class, OwnFlag, OwnReview, OwnReviewer, OwnScores, is_copied};

/// Most reviews that are named.
const NAMED: usize = 6;

/// The verdicts on everybody, by the score own.
pub(super) struct Verdicts<'a> {
    run: &'a ReviewsRun,
    own: &'a OwnScores,
    /// Places of the reviews of each person.
    of_person: Vec<Vec<usize>>,
    /// Reviews and Z of each paper.
    of_paper: Vec<(usize, usize)>,
}

impl<'a> Verdicts<'a> {
    /// `None` where the score own was not computed.
    pub(super) fn of(run: &'a ReviewsRun) -> Option<Self> {
        let (own, set) = (run.own()?, run.set());
        let mut of_paper = vec![(0, 0); set.papers.len()];
        set.reviews.iter().for_each(|review| of_paper[review.paper as usize].0 += 1);
        set.z.iter().for_each(|z| of_paper[z.paper as usize].1 += 1);
        Some(Self { run, own, of_person: set.reviews_of_each(), of_paper })
    }

    /// The flag and its reason, as what follows the name.
    pub(super) fn verdict(&self, person: usize) -> String {
        let found = &self.own.reviewers[person];
        let nouns = self.run.set().nouns;
        let of = nouns.things(found.n_papers);
        let like = nouns.said(found.reads_as.map_or("", kind_of));
        if let Some(canaries) = self.run.canaries().filter(|all| all.is_person_hit(person)) {
            let hits = canaries.hits_of(person);
            return nouns.said(&format!(
                "look; every phrase that was hidden in the paper stands in {hits} of {of}: the file went \
                 through an LLM, or they saw the hidden text and speak of it"
            ));
        }
        match found.flag {
            OwnFlag::NotJudged => {
                format!("not judged, {}", own::reason(self.run.set().nouns, found.reason))
            }
            OwnFlag::Look if found.n_look > 0 => {
                let doubtful = self.doubtful(person).len().max(found.n_look);
                let alone = if doubtful > found.n_look {
                    format!(", {} flagged by itself", found.n_look)
                } else {
                    String::new()
                };
                format!("look; reads as {like} on {doubtful} of {of}{alone}")
            }
            OwnFlag::Look => format!("look; reads as {like} on {of} taken together"),
            OwnFlag::Unsure if found.is_unseen => {
                format!(
                    "unsure, because another LLM's text in their place would not be seen; on {of}"
                )
            }
            OwnFlag::Unsure
                if found.reads_as == Some(Class::Own) && self.has_a_text_of_another(person) =>
            {
                format!(
                    "unsure, because a text of theirs is nearly the same as another one; on {of}"
                )
            }
            OwnFlag::Unsure if found.n_look > 0 => format!(
                "unsure; {} to look at one by one, but among {of} some read so by chance",
                nouns.texts(found.n_look)
            ),
            OwnFlag::Unsure if found.reads_as == Some(Class::Own) && self.has_phrases(person) => {
                format!(
                    "unsure, because some phrases that were hidden stand in their text; on {of}"
                )
            }
            OwnFlag::Unsure => format!("unsure; reads as {like}, not surely enough, on {of}"),
            OwnFlag::Clear => format!("clear, nothing stands out on {of}"),
        }
    }

    /// Whether somebody repeats a part of the phrases that were hidden in a paper.
    fn has_phrases(&self, person: usize) -> bool {
        self.run.canaries().is_some_and(|canaries| canaries.has_person_some(person))
    }

    /// What follows the verdict, each with what it is about; hidden phrases only if they may be `quoted`.
    pub(super) fn reasons(&self, person: usize, quoted: bool) -> Vec<(&'static str, String)> {
        let found = &self.own.reviewers[person];
        let mut said = Vec::new();
        if let Some(canaries) = self.run.canaries() {
            let told = canaries.told_by_paper(person, self.run.set(), quoted);
            said.extend((!told.is_empty()).then(|| ("hidden phrases", told.join("; "))));
        }
        if let Some(posterior) = found.posterior {
            let of = if self.has_a_text_of_another(person) {
                "chance that all is their own work, if the same text is"
            } else {
                "chance that all is their own work"
            };
            said.push((of, in_percent(posterior.own)));
        }
        said.extend(self.which(person).map(|which| ("which", which)));
        said.extend(self.same_text(person).map(|pairs| ("nearly the same text", pairs)));
        said.push(("compared", self.compared(person)));
        said.push(("against it", self.run.set().nouns.said(&self.against(person, found))));
        said
    }

    /// Places of the reviews of somebody that do not read as own work, worst first.
    pub(super) fn doubtful(&self, person: usize) -> Vec<usize> {
        let doubtful = |review: &OwnReview| {
            review.flag == OwnFlag::Look
                || is_copied(review.copied)
                || review.p_own.is_some_and(|p| p < 0.5)
        };
        let places = self.of_person[person].iter();
        let mut places: Vec<usize> =
            places.copied().filter(|&place| doubtful(&self.own.reviews[place])).collect();
        let worst = |place: usize| self.own.reviews[place].p_own.unwrap_or(1.0);
        places.sort_by(|&a, &b| worst(a).total_cmp(&worst(b)));
        places
    }

    /// The same in words.
    fn which(&self, person: usize) -> Option<String> {
        let (set, places) = (self.run.set(), self.doubtful(person));
        let phrase = |&place: &usize| {
            let review = &self.own.reviews[place];
            let like = review.reads_as.filter(|class| *class != Class::Own);
            let like = like.map(|class| set.nouns.said(kind_of(class)));
            let is_hit = self.run.canaries().is_some_and(|canaries| canaries.is_hit(place));
            let hidden = is_hit.then(|| "the hidden phrases".to_owned());
            let why: Vec<String> =
                like.into_iter().chain(in_an_llms(review.copied)).chain(hidden).collect();
            format!("{} ({})", set.papers.name(set.reviews[place].paper), why.join(", "))
        };
        let mut named: Vec<String> = places.iter().take(NAMED).map(phrase).collect();
        if places.len() > NAMED {
            named.push(format!("{} more", places.len() - NAMED));
        }
        (!named.is_empty()).then(|| named.join("; "))
    }

    /// Reviews by others, or of other papers, that are nearly the same text as one of theirs.
    fn same_text(&self, person: usize) -> Option<String> {
        let set = self.run.set();
        let of = |place: usize| set.reviews[place].reviewer as usize;
        let named = |place: usize| {
            let review = &set.reviews[place];
            (set.papers.name(review.paper), set.reviewers.name(review.reviewer))
        };
        let pairs = self.own.near_duplicates.iter().filter_map(|pair| {
            let [mine, other] = match (of(pair.reviews.0), of(pair.reviews.1)) {
                (first, _) if first == person => [pair.reviews.0, pair.reviews.1],
                (_, second) if second == person => [pair.reviews.1, pair.reviews.0],
                _ => return None,
            };
            let ((here, _), (there, who)) = (named(mine), named(other));
            Some(format!("{here} and that of {there} by {who}"))
        });
        let mut pairs: Vec<String> = pairs.collect();
        if pairs.is_empty() {
            return None;
        }
        let more = pairs.len().saturating_sub(NAMED);
        pairs.truncate(NAMED);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        Some(format!("{}{more}; whose it was first, the texts do not say", pairs.join("; ")))
    }

    /// Whether somebody else has nearly the same text as one of theirs.
    fn has_a_text_of_another(&self, person: usize) -> bool {
        let is_theirs = |place: usize| self.run.set().reviews[place].reviewer as usize == person;
        let mut pairs = self.own.near_duplicates.iter().map(|pair| pair.reviews);
        pairs.any(|(first, second)| is_theirs(first) != is_theirs(second))
    }

    fn compared(&self, person: usize) -> String {
        let (set, places) = (self.run.set(), &self.of_person[person]);
        let papers =
            || places.iter().map(|&place| self.of_paper[set.reviews[place].paper as usize]);
        let peers: usize = papers().map(|(reviews, _)| reviews - 1).sum();
        let z: usize = papers().map(|(_, z)| z).sum();
        let planted =
            if self.own.planted.by_class.is_empty() { "" } else { ", and with texts planted here" };
        format!(
            "{}, with {peers} by others and {z} by LLMs on the same {}s{planted}",
            set.nouns.texts(places.len()),
            set.nouns.thing()
        )
    }

    /// What speaks against the flag.
    fn against(&self, person: usize, found: &OwnReviewer) -> String {
        let mut said: Vec<String> = Vec::new();
        match found.flag {
            OwnFlag::Look => {
                let reviews = self.of_person[person].iter().map(|&place| &self.own.reviews[place]);
                // What repeats hidden phrases is to be looked at whatever it reads as.
                let is_own = |review: &&OwnReview| match review.flag {
                    OwnFlag::Look => review.reads_as == Some(Class::Own),
                    flag => flag == OwnFlag::Clear,
                };
                let own = reviews.filter(is_own).count();
                if own > 0 {
                    said.push(format!("{own} of their reviews read as their own work"));
                }
                if found.n_papers == 1 {
                    said.push("it is one review, and several tell more".into());
                }
                said.push(match found.reads_as {
                    _ if self.run.canaries().is_some_and(|all| all.is_person_hit(person)) => {
                        "who found the hidden text (selected it, used a screen reader) and reports it has \
                         the phrases, too; nor do they say that the review is the LLM's"
                            .into()
                    }
                    _ if is_copied(found.copied) => {
                        let set = self.run.set();
                        let tasks = if set.tasks.iter().all(Option::is_none) {
                            let thing = set.nouns.thing();
                            format!(" (a table of the {thing}s' texts would say what all may quote)")
                        } else {
                            String::new()
                        };
                        format!(
                            "a form or a quote would stand there word for word, too{tasks}; or the LLM's \
                             text is theirs, filed as Z or given to the LLM"
                        )
                    }
                    Some(Class::OffTopic | Class::OffTopicLlm) => {
                        "a review filed under the wrong paper, or one that says little of any, reads so".into()
                    }
                    _ => "who lets an LLM polish their own thoughts can read so".into(),
                });
                if !self.own.planted.by_class.is_empty() {
                    let rate = 100.0 * self.run.asked().fdr;
                    said.push(format!(
                        "about {rate:.0} % of those flagged are expected to be false alarms"
                    ));
                }
            }
            OwnFlag::Unsure if found.is_unseen => {
                said.push("nothing in the text: this venue shows too little of it".into());
            }
            OwnFlag::Unsure => said.push("it is not sure enough to flag, nor to clear".into()),
            OwnFlag::Clear => {
                let planted = self.own.planted.by_model();
                let kinds: Vec<String> = planted
                    .filter(|rate| rate.count > 0 && rate.on_all < 0.5)
                    .map(|rate| {
                        // Two bars: nobody is clear where such a text would be.
                        let seen =
                            if rate.class == Class::Llm { ", but not called clear" } else { "" };
                        let found = 100.0 * rate.on_all;
                        format!("{} ({found:.0} %{seen})", kind_of(rate.class))
                    })
                    .collect();
                said.push("who rewrites every thought of an LLM is not seen".into());
                if !kinds.is_empty() {
                    said.push(format!("here seldom flagged: {}", kinds.join(", ")));
                }
            }
            OwnFlag::NotJudged => said.push("no flag is no clearance".into()),
        }
        said.join("; ")
    }
}

/// What a review reads as, after `reads as`.
pub(super) fn kind_of(class: Class) -> &'static str {
    match class {
        Class::Own => "own work",
        Class::Copy => "a copy of the LLM's review",
        Class::Llm => "an LLM's review",
        Class::OffTopic => "a review of another paper",
        Class::OffTopicLlm => "a review of another paper, by an LLM or a person",
    }
}

/// How many of its words are an LLM's, if that is worth a word.
pub(super) fn in_an_llms(copied: Option<f64>) -> Option<String> {
    let share = copied.filter(|share| *share >= 0.005)?;
    Some(format!("{:.0} % of its words stand in an LLM's", 100.0 * share))
}

/// A probability for people.
pub(super) fn in_percent(probability: f64) -> String {
    match 100.0 * probability {
        percent if percent < 0.1 => "less than 0.1 %".to_owned(),
        percent if percent > 99.9 => "more than 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_certain() {
        assert_eq!(in_percent(0.0), "less than 0.1 %");
        assert_eq!(in_percent(1.0), "more than 99.9 %");
        assert_eq!(in_percent(0.0614), "6.1 %");
    }
}
