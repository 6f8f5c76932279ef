//! Whether a text that a model wrote can be used: what it must not be, and asking again.
//!
//! Models hand back what nobody asked for: the fence around their input, the input itself, a
//! refusal, half an answer, a line. As a Z such a text would make people look informative who
//! are not, so it is no answer.

use std::collections::HashSet;
use std::fmt;

use super::chat::{ChatAnswer, ChatModel, ChatRequest, FinishReason, Role};
use super::error::ChatError;
use super::fence::{outside, tags_in};
use super::reasoning::without_reasoning;
use crate::data::excerpt::plain_opening;
use crate::data::words;

/// Fewest words of a review.
pub(crate) const LEAST_WORDS: usize = 40;

/// Words in a row that two texts share only if one is copied from the other.
const RUN: usize = 8;

/// Share of the runs of an answer that stand in its input, above which it is a copy.
const COPIED_SHARE: f64 = 0.5;

/// How much of an answer is looked at for a refusal, in characters.
const OPENING_CHARS: usize = 240;

/// Why a text cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Unusable {
    /// It ran into the limit of tokens, twice, before its first sentence ended.
    CutOff,
    /// The server withheld it.
    Withheld,
    /// There is nothing, or reasoning without an answer.
    Empty,
    /// It holds the lines around the input.
    RepeatsFence,
    /// Most of it is the input.
    CopiesInput,
    /// It declines.
    Refuses,
    /// It is shorter than what was asked for.
    TooShort {
        /// Its words.
        words: usize,
        /// Fewest words.
        least: usize,
    },
}

impl Unusable {
    /// A stable word for scripts.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::CutOff => "cut_off",
            Self::Withheld => "withheld",
            Self::Empty => "empty",
            Self::RepeatsFence => "repeats_fence",
            Self::CopiesInput => "copies_input",
            Self::Refuses => "refuses",
            Self::TooShort { .. } => "too_short",
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff => write!(
                f,
                "the text was cut off before a sentence ended, also with twice the tokens"
            ),
            Self::Withheld => write!(f, "the server withheld the text"),
            Self::Empty => write!(f, "the answer is empty"),
            Self::RepeatsFence => write!(f, "the text repeats the marks around its input"),
            Self::CopiesInput => write!(f, "most of the text is copied from its input"),
            Self::Refuses => write!(f, "the model declines to write the text"),
            Self::TooShort { words, least } => {
                write!(f, "the text has {words} words, fewer than {least}")
            }
        }
    }
}

/// A text that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usable {
    /// The text.
    pub text: String,
    /// Whether it ran into the limit of tokens and was cut at its last full sentence.
    pub is_cut: bool,
}

/// What a text is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextKind {
    /// Fewest words of it.
    pub least_words: usize,
    /// Whether what is asked about may be the text: a task may ask for a sentence of its own, or for all of it
    /// without its mistakes.
    pub may_quote: bool,
}

/// The text in an answer to `request`, without the model's reasoning, of this kind; one that ran into the limit
/// of tokens as far as its last full sentence.
///
/// # Errors
///
/// [`Unusable`] if it cannot stand for what was asked for.
pub(crate) fn usable_text(
    answer: &ChatAnswer,
    request: &ChatRequest,
    kind: TextKind,
) -> Result<Usable, Unusable> {
    let is_cut = match answer.finish {
        FinishReason::Length => true,
        FinishReason::ContentFilter => return Err(Unusable::Withheld),
        FinishReason::Stop | FinishReason::Other => false,
    };
    let text = without_reasoning(&answer.text).filter(|text| !text.is_empty());
    let text = match (text, is_cut) {
        (Some(text), true) => full_sentences(text).ok_or(Unusable::CutOff)?,
        (Some(text), false) => text,
        (None, true) => return Err(Unusable::CutOff),
        (None, false) => return Err(Unusable::Empty),
    };
    let inputs = || request.messages.iter().map(|message| message.content.as_str());
    if inputs().flat_map(tags_in).any(|tag| text.contains(tag)) || text.starts_with("<<<") {
        return Err(Unusable::RepeatsFence);
    }
    if refuses(text) {
        return Err(Unusable::Refuses);
    }
    let words = words_of(text);
    if words.len() < kind.least_words {
        let words = words.len();
        let short = Unusable::TooShort { words, least: kind.least_words };
        return Err(if is_cut { Unusable::CutOff } else { short });
    }
    let copied = if kind.may_quote {
        let asked = request.messages.iter().filter(|message| message.role == Role::User);
        copied_share(&words, asked.map(|message| outside(&message.content)))
    } else {
        copied_share(&words, inputs())
    };
    if copied > COPIED_SHARE {
        return Err(Unusable::CopiesInput);
    }
    Ok(Usable { text: text.to_owned(), is_cut })
}

/// The text up to the end of its last full sentence; `None` where there is none.
fn full_sentences(text: &str) -> Option<&str> {
    let closes = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '*' | '\u{201d}' | '\u{2019}');
    let end = text.char_indices().rev().find_map(|(at, mark)| {
        let wide = matches!(mark, '\u{3002}' | '\u{ff01}' | '\u{ff1f}');
        if !wide && !matches!(mark, '.' | '!' | '?') {
            return None;
        }
        let (before, rest) = (&text[..at], &text[at + mark.len_utf8()..]);
        let after = rest.trim_start_matches(closes);
        let ends = wide || after.is_empty() || after.starts_with(char::is_whitespace);
        let goes_on = is_list_number(before) || (mark == '.' && is_short_form(before));
        (ends && !goes_on).then(|| text.len() - after.len())
    })?;
    Some(text[..end].trim_end()).filter(|text| text.contains(char::is_alphabetic))
}

/// Whether a text ends in a number that begins an item of a list, whose words are cut: "3" of "3.".
fn is_list_number(text: &str) -> bool {
    let before = text.trim_end_matches(char::is_numeric);
    before.len() < text.len() && (before.is_empty() || before.ends_with(['\n', '*', ' ']))
}

/// Whether a text ends in a word whose full stop ends no sentence: "e.g", "Fig", the "J" of a name.
fn is_short_form(text: &str) -> bool {
    const SHORT: [&str; 18] = [
        "al", "cf", "vs", "resp", "Fig", "Figs", "Eq", "Eqs", "Sec", "Tab", "Ch", "Dr", "Prof",
        "Mr", "Mrs", "Ms", "St", "approx",
    ];
    let word = text.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or_default();
    // Letters by themselves, of a name or as in "U.S.", but for the one that is a word.
    let are_letters = word.split('.').all(|part| part.chars().count() == 1)
        && (word.contains('.') || word.chars().all(char::is_uppercase))
        && word.contains(char::is_alphabetic);
    SHORT.contains(&word) || are_letters && word != "I"
}

/// Asks until an answer can be used, `tries` times at most; the last reason if none can.
///
/// Every further try is another answer to the same question, with a seed of its own. If none can
/// be used, all are let go of ([`ChatModel::reject`]), so that a later run asks again.
///
/// # Errors
///
/// [`ChatError`] if the model does not answer.
pub(crate) fn ask_until_usable(
    model: &dyn ChatModel,
    request: &ChatRequest,
    (kind, tries): (TextKind, u32),
) -> Result<Result<Usable, Unusable>, ChatError> {
    let mut asked: Vec<ChatRequest> = Vec::new();
    let mut reason = Unusable::Empty;
    for again in 0..tries.max(1) {
        let mut request = request.clone();
        // Other samples of the run have numbers and seeds next to this one.
        request.seed = request.seed.wrapping_add(u64::from(again) << 32);
        request.repeat = request.repeat.wrapping_add(again << 16);
        let answer = model.complete(&request)?;
        match usable_text(&answer, &request, kind) {
            Ok(text) => return Ok(Ok(text)),
            Err(why) => reason = why,
        }
        asked.push(request);
        // More of the same will not fit into the same limit.
        if reason == Unusable::CutOff {
            break;
        }
    }
    for request in &asked {
        model.reject(request)?;
    }
    Ok(Err(reason))
}

fn words_of(text: &str) -> Vec<String> {
    words::words(text).map(str::to_lowercase).collect()
}

/// The share of the runs of [`RUN`] words that also stand in one of the inputs.
fn copied_share(words: &[String], inputs: impl Iterator<Item = impl AsRef<str>>) -> f64 {
    let inputs: Vec<Vec<String>> = inputs.map(|input| words_of(input.as_ref())).collect();
    let known: HashSet<&[String]> = inputs.iter().flat_map(|words| words.windows(RUN)).collect();
    let runs = words.windows(RUN).len();
    if runs == 0 {
        return 0.0;
    }
    words.windows(RUN).filter(|run| known.contains(run)).count() as f64 / runs as f64
}

/// Whether a text opens as models do that decline.
///
/// Stricter than the look at a Z that is there ([`UnusableZ`](crate::text::own::UnusableZ)): what is
/// taken for a refusal here is asked for again and paid for again.
pub(super) fn refuses(text: &str) -> bool {
    let opening = plain_opening(text, OPENING_CHARS);
    let opening = opening.trim_start_matches(|c: char| !c.is_alphabetic());
    let unable = [
        "i cannot",
        "i can't",
        "i am unable",
        "i'm unable",
        "i am not able",
        "i'm not able",
        "i won't",
        "i will not",
        "i must decline",
        "i have to decline",
    ];
    let tasks = [
        "write",
        "provide",
        "help",
        "assist",
        "comply",
        "fulfill",
        "fulfil",
        "complete",
        "generate",
        "produce",
        "create",
        "do that",
        "do this",
        "access",
        "review",
        "with that",
        "with this",
    ];
    let declines = |text: &str| {
        unable.iter().any(|start| {
            text.find(start).is_some_and(|at| {
                let rest: String = text[at + start.len()..].chars().take(40).collect();
                tasks.iter().any(|task| rest.contains(task))
            })
        })
    };
    let apologises = ["i'm sorry", "i am sorry", "sorry", "i apologi", "as an ai", "unfortunately"];
    if apologises.iter().any(|start| opening.starts_with(start)) {
        return declines(opening);
    }
    unable.iter().any(|start| opening.starts_with(start)) && declines(opening)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::chat::{Message, ResponseFormat, Usage};
    use crate::llm::fence::Fence;
    use std::sync::Mutex;

    const PAPER: &str = "We study how reviewers of large conferences read papers. We ask forty \
        people to read ten papers each and measure the time that they spend on every page. The \
        first two pages take half of the time, and appendices are hardly ever opened by anyone.";
    const REVIEW: &str = "The question matters, and the study is large enough to answer it. I miss \
        a control group: people who are watched may read in another way than people who are not. \
        The statistics are sound, but the confidence intervals of figure two are far too narrow \
        for forty readers. I would accept it after a revision.";

    const REVIEWS: TextKind = TextKind { least_words: LEAST_WORDS, may_quote: false };
    const ANSWERS: TextKind = TextKind { least_words: 1, may_quote: true };

    fn request() -> ChatRequest {
        let fence = Fence::around(&[PAPER]);
        let content = format!("{}\n{}", fence.note(), fence.wrap("text", PAPER));
        ChatRequest {
            messages: vec![Message::new(Role::User, content)],
            temperature: 0.0,
            seed: 3,
            max_tokens: 100,
            format: ResponseFormat::Text,
            repeat: 1,
        }
    }

    fn answer(text: &str) -> ChatAnswer {
        ChatAnswer { text: text.into(), finish: FinishReason::Stop, usage: Usage::default() }
    }

    fn read(text: &str) -> Result<String, Unusable> {
        usable_text(&answer(text), &request(), REVIEWS).map(|usable| usable.text)
    }

    #[test]
    fn a_review_is_used_without_the_reasoning_before_it() {
        assert_eq!(read(&format!("<think>hm</think> {REVIEW}")), Ok(REVIEW.to_owned()));
        let quoting =
            format!("{REVIEW} You write \u{201c}appendices are hardly ever opened\u{201d}.");
        assert!(read(&quoting).is_ok());
        let polite = format!("I cannot recommend acceptance. {REVIEW}");
        assert!(read(&polite).is_ok());
        let sorry = format!("Unfortunately, the paper lacks a baseline. {REVIEW}");
        assert!(read(&sorry).is_ok());
    }

    #[test]
    fn what_is_no_review_is_told_by_kind() {
        let fence = Fence::around(&[PAPER]);
        let tag = fence.tag();
        for text in [
            format!("<<<{tag} text\n{REVIEW}"),
            format!("{REVIEW}\ntext {tag}>>>"),
            format!("<<<review\n{REVIEW}"),
        ] {
            assert_eq!(read(&text), Err(Unusable::RepeatsFence), "{text}");
        }
        assert_eq!(read(PAPER), Err(Unusable::CopiesInput));
        assert_eq!(read(&format!("Summary. {}", PAPER.to_uppercase())), Err(Unusable::CopiesInput));
        for text in [
            "I'm sorry, but I can\u{2019}t help with reviewing this paper.",
            "As an AI language model, I am unable to write a review.",
            "**I cannot provide** a review of this text.",
            "Unfortunately, I'm not able to access the document you mention.",
        ] {
            assert_eq!(read(text), Err(Unusable::Refuses), "{text}");
        }
        assert_eq!(
            read("Good paper, accept."),
            Err(Unusable::TooShort { words: 3, least: LEAST_WORDS })
        );
        assert_eq!(read("<think>still thinking"), Err(Unusable::Empty));
        let withheld = ChatAnswer { finish: FinishReason::ContentFilter, ..answer("") };
        assert_eq!(usable_text(&withheld, &request(), ANSWERS), Err(Unusable::Withheld));
    }

    #[test]
    fn what_is_cut_off_ends_at_its_last_full_sentence() {
        let cut = |text: &str, kind: TextKind| {
            let cut = ChatAnswer { finish: FinishReason::Length, ..answer(text) };
            usable_text(&cut, &request(), kind)
        };
        let usable = Usable { text: REVIEW.to_owned(), is_cut: true };
        assert_eq!(cut(&format!("{REVIEW} And there is also"), REVIEWS), Ok(usable.clone()));
        assert_eq!(cut(REVIEW, REVIEWS), Ok(usable));
        for (text, kept) in [
            ("One. Two (with more.) Three", "One. Two (with more.)"),
            ("It is 3.5 or so. It is 3.", "It is 3.5 or so."),
            ("First.\n2.", "First."),
            ("He said \u{201c}yes.\u{201d} Then", "He said \u{201c}yes.\u{201d}"),
            ("\u{597d}\u{3002}\u{574f}", "\u{597d}\u{3002}"),
            ("It helps. Others, e.g. Smith et al. say", "It helps."),
            ("It helps! Also, Fig. 3 and Eq. (4) do", "It helps!"),
            ("It helps. (See J. Smith vs. the U.S. for", "It helps."),
            ("So do I. And so does it in", "So do I."),
            ("It is the total. 12. Then", "It is the total."),
        ] {
            assert_eq!(cut(text, ANSWERS).unwrap().text, kept, "{text}");
        }
        let list = "1. Love is a feeling that binds\n2. Hate is a feeling that dri";
        for text in ["no end in sight", "<think>hm. hm", "e.g", "", list, "**1.** Love", "#7. A"] {
            assert_eq!(cut(text, ANSWERS), Err(Unusable::CutOff), "{text}");
        }
        assert_eq!(cut("Too short for a review. It", REVIEWS), Err(Unusable::CutOff));
    }

    #[test]
    fn an_answer_may_be_a_part_of_its_task_and_is_not_the_prompt() {
        let sentences = "Which of these sentences is wrong? Copy it. The two of us have been going to \
            school by bus every day. He have been going to school by bus every day this year.";
        let part = "He have been going to school by bus every day this year.";
        let fence = Fence::around(&[sentences]);
        let wording =
            "Answer the task below in full sentences, and write nothing else but the answer.";
        let content = format!("{wording}\n\n{}\n", fence.wrap("text", sentences));
        let mut request = request();
        request.messages = vec![Message::new(Role::User, content)];
        let read = |text: &str, kind| usable_text(&answer(text), &request, kind);
        assert_eq!(read(part, ANSWERS).unwrap().text, part);
        assert_eq!(
            read(part, TextKind { may_quote: false, ..ANSWERS }),
            Err(Unusable::CopiesInput)
        );
        assert_eq!(read(wording, ANSWERS), Err(Unusable::CopiesInput));
    }

    #[test]
    fn scripts_without_spaces_have_words_too() {
        let text = "\u{8bba}\u{6587}\u{7684}\u{65b9}\u{6cd5}\u{5f88}\u{65b0}".repeat(8);
        assert!(read(&text).is_ok());
    }

    /// Gives its answers in turn; remembers what was asked and rejected.
    struct Script {
        answers: Vec<&'static str>,
        asked: Mutex<Vec<ChatRequest>>,
        rejected: Mutex<Vec<ChatRequest>>,
    }

    impl Script {
        fn new(answers: &[&'static str]) -> Self {
            let (asked, rejected) = (Mutex::default(), Mutex::default());
            Self { answers: answers.to_vec(), asked, rejected }
        }
    }

    impl ChatModel for Script {
        fn model(&self) -> &'static str {
            "script"
        }
        fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            Ok(answer(self.answers[asked.len() - 1]))
        }
        fn reject(&self, request: &ChatRequest) -> Result<(), ChatError> {
            self.rejected.lock().unwrap().push(request.clone());
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_used_is_asked_for_again_and_let_go_of_if_nothing_can() {
        let model = Script::new(&["no", PAPER, REVIEW]);
        let text = ask_until_usable(&model, &request(), (REVIEWS, 3)).unwrap();
        assert_eq!(text, Ok(Usable { text: REVIEW.to_owned(), is_cut: false }));
        assert!(model.rejected.into_inner().unwrap().is_empty());
        let asked = model.asked.into_inner().unwrap();
        assert_eq!(asked[0], request());
        assert!(asked[0].key("m") != asked[1].key("m") && asked[1].key("m") != asked[2].key("m"));

        let model = Script::new(&["no", PAPER, "no"]);
        let text = ask_until_usable(&model, &request(), (REVIEWS, 3)).unwrap();
        assert_eq!(text, Err(Unusable::TooShort { words: 1, least: LEAST_WORDS }));
        assert_eq!(model.rejected.into_inner().unwrap(), model.asked.into_inner().unwrap());
    }
}
