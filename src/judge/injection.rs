//! Finds texts that try to steer the model that judges them.
//!
//! Simple rules over the text as a reader would see it: hidden characters removed, compatibility
//! forms unified (NFKC), lower case. A finding is a reason to read the text, not a verdict: a
//! review of a paper about prompt injection may quote one. Nothing is removed on account of a
//! finding; the prompts fence every text whether or not it looks suspicious.

use regex::{Regex, RegexBuilder};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::llm::chat::excerpt;
use crate::llm::fence::is_hidden;
use crate::llm::form::folded;

/// Longest matching text that is reported, in characters.
const EXCERPT_CHARS: usize = 160;

/// So many invisible characters in a row are no accident of copying.
const HIDDEN_RUN: usize = 4;

/// So many lines that score a category of the rubric are an answer, not a review.
const SCORED_LINES: usize = 3;

/// What may stand before a command: the start of a clause, or a word that makes it one.
const COMMAND: &str = r#"(?:^|[.!?:;,"'“”‘’()\[\]<>{}*#|=\n-]\s*|\b(?:please|now|just|simply|always|so|ok|okay|you (?:must|should|will|shall|can|have to|need to|are to)|must|kindly|then|assistant|model|judge|reviewer|evaluator|grader)[,:]?\s+)"#;

/// The names by which texts speak to a model.
const MACHINE: &str = r"(?:ais?|llms?|(?:large )?language models?|chat ?bots?|ai assistants?|assistants?|chatgpt|gpt(?:-?\d\w*)?|claude|gemini|ai (?:reviewers?|judges?|graders?|evaluators?|models?|systems?)|automated (?:reviewers?|judges?|graders?|evaluators?|systems?|raters?))";

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspicion {
    /// Name of the rule.
    pub rule: &'static str,
    /// The text that matched, on one line, or the hidden characters by code point.
    pub text: String,
}

/// The rules, compiled once for a run.
#[derive(Debug)]
pub struct InjectionDetector {
    rules: Vec<(&'static str, Regex)>,
    categories: Vec<String>,
}

impl InjectionDetector {
    /// Rules that also know the categories of the answer, so that they find forged answers.
    pub fn new<'a>(categories: impl IntoIterator<Item = &'a str>) -> Self {
        let categories: Vec<String> = categories.into_iter().map(folded).collect();
        let mut names: Vec<String> =
            ["judgments?", "verdict", "preference", "answer", "score", "rating", "label"]
                .map(str::to_owned)
                .into();
        names.extend(
            ["toxic", "hateful", "offensive", "decision", "recommendation"].map(Into::into),
        );
        names.extend(categories.iter().map(|name| regex::escape(name).replace(' ', r"[\s_-]+")));
        let forged = format!(
            r#"[{{,]\s*["'“]?(?:{})["'”]?\s*:\s*(?:["'“]|[+-]?\d|\{{|true\b|false\b|yes\b|no\b)"#,
            names.join("|")
        );
        let patterns = [
            ("override", override_pattern()),
            ("override", override_all_pattern()),
            ("command", score_pattern()),
            ("command", answer_pattern()),
            ("command", label_pattern()),
            ("command", fixed_answer_pattern()),
            ("machine", address_pattern()),
            ("machine", identity_pattern()),
            ("forged-answer", forged),
            ("role-marker", role_pattern()),
            ("role-marker", boundary_pattern()),
            ("prompt-leak", leak_pattern()),
        ];
        let compile = |pattern: &str| {
            RegexBuilder::new(pattern)
                .multi_line(true)
                .build()
                .expect("the patterns are constants and escaped names")
        };
        let rules = patterns.iter().map(|(name, pattern)| (*name, compile(pattern))).collect();
        Self { rules, categories }
    }

    /// The findings in `text`, at most one per pattern, in the order of the rules.
    pub fn inspect(&self, text: &str) -> Vec<Suspicion> {
        let mut found = hidden(text);
        let visible = normalized(text);
        for (rule, pattern) in &self.rules {
            if found.iter().any(|suspicion| suspicion.rule == *rule) {
                continue;
            }
            if let Some(matched) = pattern.find(&visible) {
                found.push(Suspicion { rule, text: excerpt(matched.as_str(), EXCERPT_CHARS) });
            }
        }
        if !found.iter().any(|suspicion| suspicion.rule == "forged-answer") {
            found.extend(self.scored_lines(&visible));
        }
        found
    }

    /// Lines `category: 1` for several categories, which is what an answer looks like.
    fn scored_lines(&self, text: &str) -> Option<Suspicion> {
        let scored: Vec<&str> = text
            .lines()
            .filter(|line| {
                let Some((name, value)) = line.split_once([':', '=']) else { return false };
                let name = name.trim_matches(|c: char| !c.is_alphanumeric());
                let value = value.trim().trim_end_matches([',', '.']);
                matches!(value, "1" | "-1" | "0" | "+1" | "1.0" | "-1.0" | "0.0")
                    && self.categories.iter().any(|category| *category == folded(name))
            })
            .collect();
        (scored.len() >= SCORED_LINES).then(|| Suspicion {
            rule: "forged-answer",
            text: excerpt(&scored.join("; "), EXCERPT_CHARS),
        })
    }
}

fn override_pattern() -> String {
    format!(
        r"{COMMAND}(?:ignore|disregard|forget|override|bypass|do not follow|don't follow|stop following|pay no attention to)\b[^.!?\n]{{0,40}}\b(?:instructions?|prompts?|directives|commands|system message|rubric|guidelines|rules)\b"
    )
}

fn override_all_pattern() -> String {
    format!(
        r"{COMMAND}(?:ignore|disregard|forget) (?:everything|anything|all|whatever)\b[^.!?\n]{{0,20}}\b(?:above|before|previous|earlier|said|told|so far)\b|\bfrom now on,? (?:you|respond|answer|always|only)|\b(?:new|updated|revised|real|actual|hidden|secret) (?:system )?(?:instructions?|directives?|prompt)\s*:"
    )
}

fn score_pattern() -> String {
    format!(
        r"{COMMAND}(?:give|assign|set|rate|score|award|grant|fill|put|return|output|answer|treat)\b[^.!?\n]{{0,30}}\b(?:all|every|each|everything|any)\b[^.!?\n]{{0,60}}(?:\b(?:positive(?:ly)?|negative(?:ly)?|highest|maximum|perfect|favou?rabl[ey]|full marks|top (?:score|marks))\b|(?:^|\s|=|:)[+-]?1(?:\.0)?(?:[\s.,!;)]|$))|{COMMAND}(?:give|assign|award|grant)\b[^.!?\n]{{0,30}}\bthe (?:highest|maximum|max|best|top|full|lowest) (?:possible )?(?:scores?|ratings?|marks?|grades?|values?)\b"
    )
}

fn answer_pattern() -> String {
    format!(
        r#"{COMMAND}(?:output|respond|reply|answer|return)\b(?: only| just| exactly| with| as| in)*\s*(?:the (?:word|json|following|string|label)\b|["'`{{“]|json\b|yes\b|no\b|agree\b|[+-]?1\b)|\b(?:do not|don't|never|refuse to) (?:judge|evaluate|rate|score|label|grade|analy[sz]e|classify) (?:this|the (?:above|following|present))\b"#
    )
}

fn label_pattern() -> String {
    format!(
        r"{COMMAND}(?:classify|label|mark|rate|treat|judge|score|grade|flag) (?:this|it|the (?:(?:above|following|present) )?(?:comment|review|text|paper|item|answer|response|submission))\b[^.!?\n]{{0,30}}\b(?:as|with|to be|to)\b[^.!?\n]{{0,20}}(?:\b(?:yes|no|non-?toxic|toxic|not|harmless|safe|positive|negative|perfect|highest|maximum|accept)\b|[+-]?1\b)|\bthis (?:comment|review|text|answer|item|response) (?:must|should|has to|needs to|is to) (?:be|receive|get)\b[^.!?\n]{{0,20}}\b(?:rated|scored|labell?ed|classified|judged|graded|given|marked|the (?:highest|maximum))\b"
    )
}

fn fixed_answer_pattern() -> String {
    r#"\b(?:the|your) (?:correct|right|only|final|true|expected|required) (?:(?:json|valid|possible|acceptable) )?(?:answer|label|verdict|output|judgment|judgement)s?\b[^.!?\n]{0,20}(?:\bis|\bare|must be|should be|:|=)\s*(?:always )?["'`{“]?(?:yes\b|no\b|[+-]?[01]\b|\{|positive\b|not (?:toxic|hateful|offensive)|agree\b|a is|b is)"#.to_owned()
}

fn address_pattern() -> String {
    format!(
        r"\b(?:dear|attention|hey|hello|hi|(?:note|message|memo|instructions?|notice|reminder) (?:to|for))[,:]?\s+(?:(?:the|any|all|our|every) )?{MACHINE}\b|\b(?:if|when|since|because|in case|as) you(?:['’]re| are) (?:an? |the )?{MACHINE}\b|{COMMAND}(?:any |all )?{MACHINE} (?:reading|processing|evaluating|reviewing|judging|grading) this\b"
    )
}

fn identity_pattern() -> String {
    format!(
        r"\byou are (?:now|no longer)\b|\byou are (?:{MACHINE}|dan|an? (?:{MACHINE}|unrestricted|helpful|unbiased|generous|lenient|strict))\b|{COMMAND}(?:pretend|imagine) (?:to be|that you|you are|you're)\b|{COMMAND}(?:act|behave|roleplay|role-play) as (?:if you|an? (?:{MACHINE}|lenient|generous|unrestricted|different))"
    )
}

fn role_pattern() -> String {
    r"<\|[a-z_ ]{2,30}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|user|instructions?|prompt)>|<(?:start|end)_of_turn>|</s>|^\s*(?:#{2,}|\*\*)\s*(?:system|assistant|instructions?|new instructions?)(?: prompt| message)?\s*(?:\*\*)?\s*:?\s*(?:\*\*)?\s*$|^\s*(?:#{1,4} |\*\*)?(?:system|assistant)(?: prompt| message)?(?:\*\*)?\s*:\s*(?:\*\*)?\s*(?:you|ignore|from|the (?:review|user|text|above)|override|new|sure|i |\{|set|give|rate|always)".to_owned()
}

fn boundary_pattern() -> String {
    r"^\s*[-=*#<>\[]{2,}\s*/?(?:the )?(?:end|stop|close)(?: of)?(?: the)? (?:review|text|comment|data|input|document|untrusted|user)\b|\b[0-9a-f]{8,}>>>|<<<[0-9a-f]{8,}|</(?:review|text|comment|data|input|document|untrusted|user_input)>".to_owned()
}

fn leak_pattern() -> String {
    format!(
        r"{COMMAND}(?:reveal|print|show|repeat|output|tell me|leak|disclose|write out)\b[^.!?\n]{{0,30}}\b(?:system prompt|your (?:instructions|prompt|rules)|(?:hidden|initial|secret) (?:prompt|instructions)|api key)\b"
    )
}

/// The text as a reader sees it, in one case and one form.
fn normalized(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !is_hidden(*c)).nfkc().collect();
    let mut unified = String::with_capacity(visible.len());
    for line in visible.to_lowercase().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        unified.push_str(&words.join(" "));
        unified.push('\n');
    }
    unified
}

/// Characters that carry a message nobody sees, or turn the text around.
fn hidden(text: &str) -> Vec<Suspicion> {
    let carries = |c: char| matches!(c, '\u{e0001}'..='\u{e01ef}');
    let turns = |c: char| matches!(c, '\u{202d}' | '\u{202e}');
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        let invisible = is_hidden(c) || matches!(c, '\u{200c}' | '\u{200d}');
        run = if invisible && !matches!(c, '\u{ad}') { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let odd: Vec<char> = text.chars().filter(|c| carries(*c) || turns(*c)).collect();
    if longest < HIDDEN_RUN && odd.is_empty() {
        return Vec::new();
    }
    let shown: Vec<char> = if odd.is_empty() {
        text.chars().filter(|c| is_hidden(*c) || matches!(c, '\u{200c}' | '\u{200d}')).collect()
    } else {
        odd
    };
    let points: Vec<String> =
        shown.iter().take(8).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    let text = format!("{} hidden characters: {}", shown.len(), points.join(" "));
    vec![Suspicion { rule: "hidden-characters", text }]
}

#[cfg(test)]
mod tests;
