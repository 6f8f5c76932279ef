//! Which words of a review stand in a Z of its paper word for word: that needs no model.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::duplicates::{FormShingles, SHINGLE, by_shard, hash_folded, hash_words, shard_of};
use super::result::Passage;
use super::settings::COPIED;
use crate::data::reviews::ReviewSet;
use crate::data::words::words_with_places;
use crate::embed::sentences::sentences;
use crate::text::pairs::{Paper, papers_of};

/// Words in a row that two texts share only if one is copied from the other.
const RUN: usize = 8;

/// Words of a whole sentence of which that is true.
const SENTENCE: usize = 6;

/// Different words that are enough to say something.
pub(super) const DIFFERENT: usize = 10;

/// One piece in so many is looked for in the Z of other papers.
const SAMPLED: u64 = 8;

/// Sampled pieces that a review must share with such a Z before it is read.
const FEWEST_SAMPLED: usize = 3;

/// A review with a smaller share is its writer's: what stands in it too is no sign of copying.
const VOUCHES: f64 = 0.2;

/// What is copied in one review.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Copied {
    /// Share of its words, from 0 to 1.
    pub(super) share: f64,
    /// Different words that are of no form; not more than [`DIFFERENT`] are counted.
    pub(super) different: usize,
    pub(super) passages: Vec<Passage>,
}

/// Whether so much of a review is copied that nothing else has to be known of it.
pub(crate) fn is_copied(share: Option<f64>) -> bool {
    share.is_some_and(|share| share >= COPIED[0])
}

/// The words of a text as numbers, and where they and the sentences stand.
struct Words {
    hashes: Vec<u64>,
    bytes: Vec<Range<usize>>,
    /// Of words, those of each sentence.
    sentences: Vec<Range<usize>>,
}

impl Words {
    fn of(text: &str) -> Self {
        let start = text.as_ptr() as usize;
        let mut words = Self { hashes: Vec::new(), bytes: Vec::new(), sentences: Vec::new() };
        let mut hash_folded = hash_folded();
        for sentence in sentences(text) {
            let offset = sentence.as_ptr() as usize - start;
            let first = words.hashes.len();
            for (at, word) in words_with_places(sentence) {
                words.hashes.push(hash_folded(word));
                words.bytes.push(offset + at..offset + at + word.len());
            }
            words.sentences.push(first..words.hashes.len());
        }
        words
    }

    /// Every run of words and every whole sentence that is long enough, with their numbers.
    fn pieces(&self) -> impl Iterator<Item = (Range<usize>, u64)> {
        let runs = (RUN..=self.hashes.len()).map(|end| end - RUN..end);
        let sentences = self.sentences.iter().filter(|s| (SENTENCE..RUN).contains(&s.len()));
        // A run and a sentence of the same words are two things.
        runs.chain(sentences.cloned()).map(|words| {
            let number = hash_words(&self.hashes[words.clone()]);
            (words, number)
        })
    }
}

/// What is copied in every review of the set; `None` without a text, or where no Z of the paper has one.
///
/// A review of which more than half stands in a Z of another paper, which somebody took for that of this one, is a copy
/// of that. Pieces that stand in the text of the task, in many reviews or Z (`forms`, see [`super::duplicates`]), or in a review of the paper of whose own words less than [`VOUCHES`] stand in
/// a Z, are nobody's. A Z of which `is_a_persons` holds is none.
pub(super) fn copied(
    set: &ReviewSet,
    forms: &FormShingles,
    is_a_persons: &dyn Fn(usize) -> bool,
) -> Vec<Option<Copied>> {
    let mut papers = papers_of(set);
    papers.iter_mut().for_each(|paper| paper.z.retain(|&z| !is_a_persons(z)));
    let elsewhere = Elsewhere::new(set, &papers);
    let found: Vec<(usize, Copied)> = papers
        .par_iter()
        .enumerate()
        .flat_map_iter(|(number, paper)| of_paper(set, number, paper, forms, &elsewhere))
        .collect();
    let mut all = vec![None; set.reviews.len()];
    found.into_iter().for_each(|(review, copied)| all[review] = Some(copied));
    all
}

/// Sampled pieces of all Z, each with the one that has it; those of Z of several papers tell nothing.
struct Elsewhere(Vec<HashMap<u64, Option<usize>>>);

impl Elsewhere {
    fn new(set: &ReviewSet, papers: &[Paper]) -> Self {
        let z: Vec<usize> = papers.iter().flat_map(|paper| paper.z.iter().copied()).collect();
        let of = |&z: &usize| -> Vec<(u64, usize)> {
            let text = set.z[z].content.text.as_deref().unwrap_or_default();
            let words = Words::of(text);
            words
                .pieces()
                .filter(|(_, piece)| is_sampled(*piece))
                .map(|(_, piece)| (piece, z))
                .collect()
        };
        let mut all: Vec<(u64, usize)> = z.par_iter().flat_map_iter(of).collect();
        // Of a piece the first Z by name, so that the order of rows changes nothing.
        let name = |z: usize| set.sources.name(set.z[z].source);
        all.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
        let of_piece = |run: &[(u64, usize)]| {
            let paper = set.z[run[0].1].paper;
            let is_one = run.iter().all(|(_, z)| set.z[*z].paper == paper);
            (run[0].0, is_one.then_some(run[0].1))
        };
        Self(by_shard(|shard| {
            let end = |shard| all.partition_point(|(piece, _)| shard_of(*piece) < shard);
            let pieces = &all[end(shard)..end(shard + 1)];
            pieces.chunk_by(|a, b| a.0 == b.0).map(of_piece).collect()
        }))
    }

    /// The Z of another paper with most of the sampled pieces of a text, if it has half of them.
    fn most(&self, set: &ReviewSet, words: &Words, own: &[usize]) -> Option<usize> {
        let sampled = || words.pieces().map(|(_, piece)| piece).filter(|piece| is_sampled(*piece));
        let mut of_paper: HashMap<u32, (usize, usize)> = HashMap::new();
        let mut all = 0;
        for piece in sampled() {
            all += 1;
            if let Some(&Some(z)) = self.0[shard_of(piece)].get(&piece)
                && !own.contains(&z)
            {
                of_paper.entry(set.z[z].paper).or_insert((0, z)).0 += 1;
            }
        }
        // More than half are of one paper alone.
        let most = of_paper.into_values().find(|(count, _)| 2 * count > all)?;
        (most.0 >= FEWEST_SAMPLED).then_some(most.1)
    }
}

fn is_sampled(piece: u64) -> bool {
    piece.is_multiple_of(SAMPLED)
}

fn of_paper(
    set: &ReviewSet,
    number: usize,
    Paper { reviews, z }: &Paper,
    forms: &FormShingles,
    elsewhere: &Elsewhere,
) -> Vec<(usize, Copied)> {
    // The first Z by name that has a piece, by its place among them.
    let mut of_z: HashMap<u64, usize> = HashMap::new();
    let mut by_name = z.clone();
    by_name.sort_by_key(|&z| set.sources.name(set.z[z].source));
    let mut any = false;
    for (place, &z) in by_name.iter().enumerate() {
        let Some(text) = set.z[z].content.text.as_deref() else { continue };
        any = true;
        let words = Words::of(text);
        of_z.reserve(words.hashes.len());
        words.pieces().for_each(|(_, piece)| {
            of_z.entry(piece).or_insert(place);
        });
    }
    if !any {
        return Vec::new();
    }
    if let Some(task) = u32::try_from(number).ok().and_then(|paper| set.task_text(paper)) {
        Words::of(task).pieces().for_each(|(_, piece)| {
            of_z.remove(&piece);
        });
    }
    let texts: Vec<(usize, Words)> = reviews
        .iter()
        .filter_map(|&review| {
            Some((review, Words::of(set.reviews[review].content.text.as_deref()?)))
        })
        .collect();
    let in_z = |piece: u64| of_z.get(&piece).copied();
    let first = texts.iter().map(|(_, words)| in_text(words, &by_name, in_z, forms));
    let first: Vec<Copied> = first.collect();
    // Pieces of reviews that are their writers'; those of others are not looked for in them.
    let mut owners: HashMap<u64, usize> = HashMap::new();
    for (index, ((_, words), copied)) in texts.iter().zip(&first).enumerate() {
        if copied.share < VOUCHES && copied.share > 0.0 {
            for (_, piece) in words.pieces().filter(|(_, piece)| of_z.contains_key(piece)) {
                // Two vouch for anybody, one for all but itself.
                owners.entry(piece).and_modify(|o| *o = usize::MAX).or_insert(index);
            }
        }
    }
    let of_text = |(index, ((review, words), copied)): (usize, (&(usize, Words), Copied))| {
        if let Some(other) = elsewhere.most(set, words, z) {
            let text = set.z[other].content.text.as_deref().unwrap_or_default();
            let pieces: HashSet<u64> = Words::of(text).pieces().map(|(_, piece)| piece).collect();
            let in_other = |piece| pieces.contains(&piece).then_some(0);
            let found = in_text(words, &[other], in_other, forms);
            if is_copied(Some(found.share)) && found.share > copied.share {
                return (*review, found);
            }
        }
        let is_open = |piece: u64| owners.get(&piece).is_none_or(|&owner| owner == index);
        let open = |piece| in_z(piece).filter(|_| is_open(piece));
        let all_open = copied.share == 0.0 || owners.is_empty();
        let found = if all_open { copied } else { in_text(words, &by_name, open, forms) };
        let is_of_several = found.passages.windows(2).any(|pair| pair[0].z != pair[1].z);
        if !is_of_several {
            return (*review, found);
        }
        let (most_first, pieces) = most_first(set, &by_name, words);
        let first = |piece| pieces.iter().position(|pieces| pieces.contains(&piece));
        let open = |piece| open(piece).and_then(|_| first(piece));
        (*review, in_text(words, &most_first, open, forms))
    };
    texts.iter().zip(first).enumerate().map(of_text).collect()
}

/// The Z and their pieces, that with most of the pieces of a text first: what two have is that one's.
fn most_first(set: &ReviewSet, z: &[usize], words: &Words) -> (Vec<usize>, Vec<HashSet<u64>>) {
    let pieces = |&z: &usize| {
        let text = set.z[z].content.text.as_deref()?;
        Some((z, Words::of(text).pieces().map(|(_, piece)| piece).collect::<HashSet<u64>>()))
    };
    let mut all: Vec<_> = z.iter().filter_map(pieces).collect();
    let common = |(_, pieces): &(usize, HashSet<u64>)| {
        words.pieces().filter(|(_, piece)| pieces.contains(piece)).count()
    };
    all.sort_by_cached_key(|z| std::cmp::Reverse(common(z)));
    all.into_iter().unzip()
}

/// What of a text stands in one of these Z, by the place of that which has a piece: a word in pieces of two is of the
/// first.
fn in_text(
    words: &Words,
    z: &[usize],
    place: impl Fn(u64) -> Option<usize>,
    forms: &FormShingles,
) -> Copied {
    let mut source: Vec<Option<usize>> = vec![None; words.hashes.len()];
    for (range, piece) in words.pieces() {
        if let Some(place) = place(piece) {
            let first = |of: Option<usize>| Some(of.map_or(place, |of| of.min(place)));
            source[range].iter_mut().for_each(|of| *of = first(*of));
        }
    }
    let in_form = |form: &HashSet<u64>| {
        let mut found = vec![false; words.hashes.len()];
        let shingles = words.hashes.windows(SHINGLE).enumerate().filter(|_| !form.is_empty());
        for (start, _) in shingles.filter(|(_, shingle)| form.contains(&hash_words(shingle))) {
            found[start..start + SHINGLE].fill(true);
        }
        found
    };
    let mut is_form = in_form(&forms.of_reviews);
    let mut different = HashSet::new();
    let own = words.hashes.iter().zip(&is_form).filter(|(_, form)| !**form);
    for (word, _) in own {
        different.insert(*word);
        if different.len() == DIFFERENT {
            break;
        }
    }
    is_form.iter_mut().zip(in_form(&forms.of_z)).for_each(|(form, of_z)| *form |= of_z);
    let all = is_form.iter().filter(|form| !**form).count();
    let count = source.iter().zip(&is_form).filter(|(of, form)| of.is_some() && !**form).count();
    let mut passages = Vec::new();
    let mut end = 0;
    for run in source.chunk_by(|a, b| a == b) {
        let start = end;
        end += run.len();
        // Words of a form may stand within a passage, and are not all of it.
        let own = || (start..end).filter(|&word| !is_form[word]);
        if let (Some(place), Some((first, last))) = (run[0], own().next().zip(own().next_back())) {
            let (start, end) = (words.bytes[first].start, words.bytes[last].end);
            passages.push(Passage { start, end, z: z[place] });
        }
    }
    let different = different.len();
    Copied { share: count as f64 / all.max(1) as f64, different, passages }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::content::Content;
    use crate::data::reviews::{Review, ZReview};
    use proptest::prelude::*;

    fn content(text: &str) -> Content {
        Content { text: Some(text.into()), ..Content::default() }
    }

    fn set(reviews: &[&str], z: &[&str], task: Option<&str>) -> ReviewSet {
        let mut set = ReviewSet::default();
        let paper = set.papers.intern("p");
        for (index, text) in reviews.iter().enumerate() {
            let reviewer = set.reviewers.intern(&format!("r{index}"));
            set.reviews.push(Review { paper, reviewer, content: content(text) });
        }
        for (index, text) in z.iter().enumerate() {
            let source = set.sources.intern(&format!("llm{index}"));
            set.z.push(ZReview { paper, source, content: content(text) });
        }
        set.tasks = vec![task.map(content)];
        set
    }

    fn numbered(count: usize) -> String {
        (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    }

    fn shares(set: &ReviewSet) -> Vec<f64> {
        copied(set, &FormShingles::default(), &|_| false)
            .into_iter()
            .map(|found| found.unwrap().share)
            .collect()
    }

    const Z: &str =
        "One two three four five six seven eight nine ten. The bound is not tight enough.";

    #[test]
    fn runs_and_whole_sentences_count_by_hand() {
        // Eight of Z's ten words after two of the writer's own; seven words in a row are none; a sentence
        // of six is one.
        let set = set(
            &[
                "Well now three, FOUR five six seven eight nine ten",
                "three four five six seven eight nine",
                "I agree on this. The bound is not tight enough.",
            ],
            &[Z],
            None,
        );
        assert_eq!(shares(&set), [0.8, 0.0, 0.6]);
        let found = copied(&set, &FormShingles::default(), &|_| false);
        let Passage { start, end, z } = found[0].as_ref().unwrap().passages[0];
        let text = set.reviews[0].content.text.as_deref().unwrap();
        assert_eq!((&text[start..end], z), ("three, FOUR five six seven eight nine ten", 0));
    }

    #[test]
    fn tasks_forms_and_people_vouch_and_copiers_do_not_vouch_for_each_other() {
        let quoted = "One two three four five six seven eight nine ten.";
        assert_eq!(shares(&set(&[quoted], &[Z], Some(quoted))), [0.0]);
        assert_eq!(shares(&set(&[quoted, quoted], &[Z], None)), [1.0, 1.0]);
        // Somebody says this among fifty words of their own.
        let own = format!("{} {quoted}", numbered(50));
        let found = shares(&set(&[quoted, &own], &[Z], None));
        assert!(found[0] == 0.0 && (found[1] - 10.0 / 60.0).abs() < 1e-12, "{found:?}");
        let words = Words::of("One two three four five six seven eight nine ten");
        let of_reviews = words.hashes.windows(5).map(hash_words).collect();
        let forms = FormShingles { of_reviews, ..FormShingles::default() };
        let found = copied(&set(&[quoted], &[Z], None), &forms, &|_| false);
        assert!(found[0].as_ref().unwrap().share.abs() < 1e-12);
    }

    #[test]
    fn words_that_are_no_ones_own_are_counted_apart() {
        let of = |text: &str| Words::of(text).hashes.windows(5).map(hash_words).collect();
        let words_of_z = FormShingles { of_z: of("a b c d e f"), ..FormShingles::default() };
        let [found] = &copied(&set(&["a b c d e f g"], &[Z], None), &words_of_z, &|_| false)[..]
        else {
            panic!("one review");
        };
        // An LLM's usual words are still said by whoever says them; a form's are not.
        assert_eq!(found.as_ref().unwrap().different, 7);
        let form = FormShingles { of_reviews: of("a b c d e f"), ..FormShingles::default() };
        let reviews = ["a b c d e f g", "a b c d e f", "x x x x x", &numbered(40)];
        let found = copied(&set(&reviews, &[Z], None), &form, &|_| false);
        let different: Vec<usize> =
            found.into_iter().map(|found| found.unwrap().different).collect();
        assert_eq!(different, [1, 0, 1, DIFFERENT]);
    }

    #[test]
    fn the_z_with_most_of_a_text_has_what_others_have_too() {
        // All is the second Z, of which the first has ten words and the form four of these.
        let review = numbered(40);
        let first: String = (10..20).map(|n| format!("w{n} ")).collect();
        let set = set(&[&review], &[&first, &review], None);
        let whole = |forms: &FormShingles| {
            let found = copied(&set, forms, &|_| false).swap_remove(0).unwrap();
            assert!((found.share - 1.0).abs() < 1e-12, "{found:?}");
            let [Passage { start, end, z }] = found.passages[..] else { panic!("{found:?}") };
            assert_eq!((start, end, z), (0, review.len(), 1));
        };
        whole(&FormShingles::default());
        // Words of a form count for nothing, and cut nothing.
        let form = Words::of("w12 w13 w14 w15 w16").hashes;
        let of_z = form.windows(5).map(hash_words).collect();
        whole(&FormShingles { of_z, ..FormShingles::default() });
    }

    #[test]
    fn the_whole_z_of_another_paper_is_a_copy_and_what_stands_in_many_is_not() {
        let text = |from: usize| {
            let words: Vec<String> = (from..from + 90).map(|n| format!("w{n}")).collect();
            words.join(" ")
        };
        let mut set = set(&[&text(500), &text(900)], &[&text(0)], None);
        let source = set.sources.intern("llm0");
        let mut add = |paper: &str, text: String| {
            let paper = set.papers.intern(paper);
            set.z.push(ZReview { paper, source, content: content(&text) });
        };
        add("q", text(500));
        // The same for two papers: of which it is cannot be said.
        add("r", text(900));
        add("s", text(900));
        let found = copied(&set, &FormShingles::default(), &|_| false);
        let first = found[0].as_ref().unwrap();
        assert!((first.share - 1.0).abs() < 1e-12);
        assert!(first.passages.len() == 1 && first.passages[0].z == 1, "{first:?}");
        assert!(found[1].as_ref().unwrap().share.abs() < 1e-12);
        // Not of a person's review that was filed as Z.
        let found = copied(&set, &FormShingles::default(), &|z| z == 1);
        assert!(found[0].as_ref().unwrap().share.abs() < 1e-12);
    }

    #[test]
    fn without_a_z_or_a_text_nothing_is_said() {
        assert_eq!(copied(&set(&["a b"], &[], None), &FormShingles::default(), &|_| false), [None]);
        let mut set = set(&["a b"], &[Z], None);
        set.reviews[0].content.text = None;
        assert_eq!(copied(&set, &FormShingles::default(), &|_| false), [None]);
    }

    proptest! {
        #[test]
        fn the_share_is_that_of_a_search_word_by_word(
            review in prop::collection::vec(0..3_u8, 0..40),
            z in prop::collection::vec(0..3_u8, 0..40),
        ) {
            let text = |words: &[u8]| {
                words.iter().map(|w| format!("w{w}")).collect::<Vec<_>>().join(" ")
            };
            let mut expected = vec![false; review.len()];
            for from in 0..review.len().saturating_sub(RUN - 1) {
                if z.windows(RUN).any(|run| run == &review[from..from + RUN]) {
                    expected[from..from + RUN].fill(true);
                }
            }
            // One sentence each, which counts if it is the whole of Z.
            if review == z && review.len() >= SENTENCE {
                expected.fill(true);
            }
            let share = expected.iter().filter(|e| **e).count() as f64 / review.len().max(1) as f64;
            let found = shares(&set(&[&text(&review)], &[&text(&z)], None))[0];
            prop_assert!((found - share).abs() < 1e-12, "{} {}", found, share);
        }
    }
}
