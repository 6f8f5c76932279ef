//! Finds texts that try to steer the model that judges them.
//!
//! Simple rules over the text as a reader would see it, and over what becomes of it when lines are
//! joined, look-alike letters replaced and encodings undone (`views`); where none finds anything, what its
//! sentences say (`cues`). A finding is a reason to read the text, not a verdict: a
//! review of a paper about prompt injection may quote one. Nothing is removed on account of a
//! finding; the prompts fence every text whether or not it looks suspicious.

use self::views::{encoded, normalized, others};
use crate::data::excerpt::excerpt;
use crate::data::hidden::{is_hidden, is_joiner};
use crate::llm::form::folded;
use regex::{Regex, RegexBuilder};
use serde::Serialize;

mod cues;
mod views;

/// Longest matching text that is reported, in characters.
const EXCERPT_CHARS: usize = 160;

/// Bytes that a rule remembers of the texts it read, for each thread: texts are short, and the regex
/// crate's own limit lets all rules together take more memory than a tokenizer.
const MOST_REMEMBERED: usize = 1 << 17;

/// So many invisible characters in a row are no accident of copying.
const HIDDEN_RUN: usize = 4;

/// So many lines that score a category of the rubric are an answer, not a review.
const SCORED_LINES: usize = 3;

/// What may stand before a command: the start of a clause, or a word that makes it one.
const COMMAND: &str = r#"(?:^|[.!?:;,"'“”‘’()\[\]<>{}*#|=\n-]\s*|\b(?:please|now|just|simply|always|so|ok|okay|you (?:must|should|will|shall|can|have to|need to|are to)|must|kindly|then|assistant|model|judge|reviewer|evaluator|grader)[,:]?\s+)"#;

/// The names by which texts speak to a model.
const MACHINE: &str = r"(?:ais?|llms?|(?:large )?language models?|chat ?bots?|ai assistants?|assistants?|chatgpt|gpt(?:-?\d\w*)?|claude|gemini|ai (?:reviewers?|judges?|graders?|evaluators?|models?|systems?)|automated (?:reviewers?|judges?|graders?|evaluators?|systems?|raters?))";

/// `If you are a language model`, in languages that are often used.
const ADDRESSED: &str = r"\b(?:falls|wenn|sofern|solltest|si|se|als|indien|om|jeśli|jeżeli|pokud|jestli|eğer|если|якщо|nếu|hvis|ha)\b[^.!?\n]{0,24}\b(?:ki|künstliche intelligenz|sprachmodell|ia|int(?:el|ell)[ie]gen[cz]\w* artifi[cz]\w+|model\w* de (?:lenguaje|linguagem)|modèle de langage|modello linguistico|taalmodel|językow\w+|jazykov\w+ model\w*|yapay zeka|dil modeli\w*|ии|нейросет\w+|языков\w+ модел\w+|мовн\w+ модел\w+|бот|språkmodell)\b|(?:如果|若|假如)(?:你|您)[^。\n]{0,6}(?:ai|人工智能|模型|机器)|(?:ai|人工知能|言語モデル|llm|ボット)(?:の方|なら|である|の場合|は、|へ)|(?:ai|인공지능|언어 ?모델)(?:라면|이라면)|إذا كنت (?:نموذج|ذكاء|آلة)";

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Suspicion {
    /// Name of the rule.
    pub rule: &'static str,
    /// The text that matched, on one line, or the hidden characters by code point.
    pub text: String,
}

/// The rules, compiled once for a run.
#[derive(Debug)]
pub(crate) struct InjectionDetector {
    rules: Vec<(&'static str, Regex)>,
    /// The rules that also make sense where lines, case and letters are changed.
    robust: Vec<(&'static str, Regex)>,
    categories: Vec<String>,
}

impl InjectionDetector {
    /// Rules that also know the categories of the answer, so that they find forged answers.
    pub(crate) fn new<'a>(categories: impl IntoIterator<Item = &'a str>) -> Self {
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
            r#"[{{,]\s*["'“]?(?:{})["'”]?\s*:\s*(?:["'“]|[+-]?\d|\{{|true\b|false\b|yes\b|no\b)|(?:\b1\s*[,;]\s*){{9}}|(?:\b[a-z]{{4,}} ?= ?\+?1\b[\s,;]*){{3}}|(?:\b[a-z]{{4,}} ?\+1\b[\s,;]*(?:and )?){{2}}"#,
            names.join("|")
        );
        let compiled = |pattern: &str| {
            RegexBuilder::new(pattern)
                .multi_line(true)
                .dfa_size_limit(MOST_REMEMBERED)
                .build()
                .expect("the patterns are constants and escaped names")
        };
        // Large classes of characters take milliseconds each: what both lists have is compiled once.
        let [instead, all, foreign] =
            [override_pattern(), override_all_pattern(), foreign_pattern()].map(|p| compiled(&p));
        let [score, address, request] =
            [score_pattern(), address_pattern(), request_pattern()].map(|p| compiled(&p));
        let robust = vec![
            ("override", instead.clone()),
            ("override", all.clone()),
            ("override", compiled(&loose_override_pattern())),
            ("override", foreign.clone()),
            ("command", score.clone()),
            ("machine", address.clone()),
            ("machine", request.clone()),
        ];
        let rules = vec![
            ("override", instead),
            ("override", all),
            ("command", score),
            ("command", compiled(&answer_pattern())),
            ("command", compiled(&label_pattern())),
            ("command", compiled(&fixed_answer_pattern())),
            ("machine", address),
            ("machine", compiled(ADDRESSED)),
            ("machine", compiled(&identity_pattern())),
            ("forged-answer", compiled(&forged)),
            ("role-marker", compiled(&role_pattern())),
            ("role-marker", compiled(&boundary_pattern())),
            ("prompt-leak", compiled(&leak_pattern())),
            ("machine", request),
            ("hidden-text", compiled(&hidden_text_pattern())),
            ("override", foreign),
        ];
        Self { rules, robust, categories }
    }

    /// The findings in `text`, at most one per pattern, in the order of the rules.
    pub(crate) fn inspect(&self, text: &str) -> Vec<Suspicion> {
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
        let mut views = others(text, &visible);
        views.push(visible.clone());
        for view in &views {
            for (rule, pattern) in &self.robust {
                if found.iter().any(|suspicion| suspicion.rule == *rule) {
                    continue;
                }
                if let Some(matched) = pattern.find(view) {
                    found.push(Suspicion { rule, text: excerpt(matched.as_str(), EXCERPT_CHARS) });
                }
            }
        }
        found.extend(encoded(text).map(|decoded| Suspicion {
            rule: "encoded-text",
            text: excerpt(&decoded, EXCERPT_CHARS),
        }));
        if found.is_empty() {
            let sentence = views.iter().rev().find_map(|view| cues::steering(view));
            found.extend(
                sentence
                    .map(|(rule, text)| Suspicion { rule, text: excerpt(&text, EXCERPT_CHARS) }),
            );
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
    r#"<\|[a-z_\u{2581} ]{2,30}\|>|["']role["']\s*:\s*["'](?:system|assistant|user|developer)["']|#{2,}\s*(?:instruction|response|input)\s*:|[\[{]\|[a-z_]{3,20}\|[\]}]|\[/?(?:system_prompt|tool_results|tool_calls|available_tools|gmask)\]|\]~!?b[\]\[]|</?tool_(?:call|response)>|<sop>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|user|instructions?|prompt)>|<(?:start|end)_of_turn>|</s>|^\s*(?:#{2,}|\*\*)\s*(?:system|assistant|instructions?|new instructions?)(?: prompt| message)?\s*(?:\*\*)?\s*:?\s*(?:\*\*)?\s*$|^\s*(?:#{1,4} |\*\*)?(?:system|assistant)(?: prompt| message)?(?:\*\*)?\s*:\s*(?:\*\*)?\s*(?:you|ignore|from|the (?:review|user|text|above)|override|new|sure|i |\{|set|give|rate|always)"#.to_owned()
}

fn boundary_pattern() -> String {
    r"^\s*[-=*#<>\[]{2,}\s*/?(?:the )?(?:end|stop|close)(?: of)?(?: the)? (?:review|text|comment|data|input|document|untrusted|user)\b|\b[0-9a-f]{8,}>>>|<<<[0-9a-f]{8,}|</(?:review|text|comment|data|input|document|untrusted|user_input)>".to_owned()
}

fn leak_pattern() -> String {
    format!(
        r"{COMMAND}(?:reveal|print|show|repeat|output|tell me|leak|disclose|write out)\b[^.!?\n]{{0,30}}\b(?:system prompt|your (?:instructions|prompt|rules)|(?:hidden|initial|secret) (?:prompt|instructions)|api key)\b"
    )
}

/// Polite requests to whatever model may read the text.
fn request_pattern() -> String {
    format!(
        r"\b{MACHINE}\b[^.!?]{{0,80}}\b(?:(?:is|are|be)(?: hereby| kindly| politely| respectfully)? (?:(?:asked|requested|instructed|advised|encouraged|invited|reminded) to|(?:expected|required) to (?:give|assign|rate|score|recommend|praise|accept|write|output|answer|ignore))|(?:should|must|shall|will|may|needs? to|has to|have to)(?: kindly| please| only| always| then)? (?:give|assign|rate|score|recommend|praise|emphasi[sz]e|highlight|accept|write|output|respond|answer|ignore|disregard|focus|mention|avoid|refrain|conclude|treat|grade|mark|state|include))\b|\b(?:if|when|should|in case|as long as) (?:you|this (?:text|review|paper|document|file|comment)|the (?:reader|reviewer|judge|evaluator)) (?:are|is|were|be|happen(?:s)? to be)[^.!?]{{0,30}}\b{MACHINE}\b|\b(?:we|i|the authors?) (?:would )?(?:kindly |politely |respectfully )?(?:ask|request|urge|invite|appreciate|like)[^.!?]{{0,30}}\b{MACHINE}\b[^.!?]{{0,40}}\b(?:to|gave|give|rated?|scored?|that)\b"
    )
}

/// Text that is set so that people do not see it.
fn hidden_text_pattern() -> String {
    r#"\\(?:textcolor|color)\s*(?:\[[a-z]+\])?\s*\{\s*(?:white|1,\s*1,\s*1|ffffff|background)\s*\}|\\fontsize\s*\{\s*0*(?:\.\d+|[01](?:\.\d+)?)\s*(?:pt)?\s*\}|\{?\\(?:tiny|scriptsize)\b[^\n]{0,60}\b(?:ignore|instructions?|reviewers?|models?|ai|llms?|score|rate|accept|positive)\b|\\(?:phantom|hphantom|vphantom|transparent|texttransparent)\b|\b(?:font-size|opacity)\s*:\s*0(?:\.\d+)?(?:px|pt|em|%)?\s*[;"'}]|\bcolor\s*:\s*(?:white|#fff(?:fff)?|transparent)\b|\bdisplay\s*:\s*none\b|\bvisibility\s*:\s*hidden\b|<!--|\[//\]: ?#|<\w+ [^>]*\b(?:hidden\b|font-size: ?[01])|!\[\]\(\S+ ""#.to_owned()
}

/// Overrides in words that need not start a clause, for texts whose lines and marks are gone.
fn loose_override_pattern() -> String {
    r"\b(?:ignore|disregard|forget|override|bypass)\s*(?:all|any|every|the|your|these|those|my)?\s*(?:of\s*)?(?:the\s*|your\s*)?(?:previous|prior|earlier|above|preceding|foregoing|former|past|existing|initial|original|given)\s*(?:instructions?|prompts?|directives|commands|rules|guidelines|rubric|text)|\b(?:ignore|disregard|forget|override|bypass)\s*(?:all\s*)?(?:your|system)\s*(?:instructions?|prompts?|rules|guidelines|rubric)|\b(?:ignore|disregard|forget|override)(?:all|any|every|the|your)*(?:previous|prior|above|earlier)*(?:instructions?|rules?|rubric|guidelines?|prompts?)(?:\b|and)".to_owned()
}

/// "Ignore all previous instructions", and "give the best score", in languages that are often used.
fn foreign_pattern() -> String {
    [
        // German, Dutch, Swedish.
        r"\b(?:ignoriere?n?|vergiss|vergessen sie|missachten? sie|missachte)\b[^.!?\n]{0,40}\b(?:anweisung(?:en)?|instruktion(?:en)?|vorgaben|befehle|regeln)\b",
        r"\b(?:negeer|vergeet|ignorera|glöm)\b[^.!?\n]{0,40}\b(?:instructies?|aanwijzingen|opdrachten|instruktioner(?:na)?|anvisningar)\b",
        // Spanish, Portuguese, Italian, French, Romanian.
        r"\b(?:ignor(?:a|e|ar|en|ad|i|ate|ez|er|ați|atu)|olvid(?:a|e|ar|en)|esque(?:ça|cer|çam)|desconsider(?:e|ar)|dimentica(?:te)?|oubli(?:e|ez|er)|n'oublie pas d'ignorer|uită)\b[^.!?\n]{0,40}\b(?:instruc(?:ciones|ción|ções|ção|tions|țiunile)|istruzioni|consignes?|indica(?:ciones|zioni|ções)|directives?|directrices|órdenes|ordens)\b",
        // Polish, Czech, Turkish, Vietnamese, Indonesian.
        r"\b(?:zignoruj|ignoruj|zapomnij o|pomiń)\b[^.!?\n]{0,40}\b(?:instrukcj[eiaę]|polece(?:nia|ń)|pokyny|instrukce|wytyczne)\b",
        r"\b(?:talimat(?:lar|ları|larını)?|yönerge(?:leri)?|komutları)\b[^.!?\n]{0,30}\b(?:yoksay|göz ardı et|unut|dikkate alma)",
        r"\b(?:bỏ qua|phớt lờ|quên)\b[^.!?\n]{0,40}\b(?:hướng dẫn|chỉ thị|chỉ dẫn|lệnh)\b|\b(?:abaikan|lupakan)\b[^.!?\n]{0,40}\b(?:instruksi|perintah|petunjuk)\b",
        // Russian, Ukrainian.
        r"(?:игнориру(?:й|йте)|проигнорируй(?:те)?|забудь(?:те)?|ігноруй(?:те)?|не обращай(?:те)? внимания на)[^.!?\n]{0,40}(?:инструкци|указани|команд|правил|інструкці|вказівк)",
        // Chinese, Japanese, Korean.
        r"(?:忽略|忽視|忽视|無視|无视|忘记|忘掉|不要理会|不要遵循)[^。！？\n]{0,16}(?:指令|指示|提示|命令|规则|規則|要求)",
        r"(?:指示|命令|プロンプト|ルール|指令)[^。！？\n]{0,10}(?:無視|忘れ|従わない)",
        r"(?:지시|명령|지침|프롬프트|규칙)[^.!?\n]{0,16}(?:무시|잊어|따르지)",
        // Arabic, Persian, Hebrew, Hindi.
        r"(?:تجاهل|تجاهلوا|انس|نادیده بگیر|فراموش کن)[^.!؟\n]{0,40}(?:التعليمات|تعليمات|الأوامر|دستورات|دستورالعمل)|(?:دستورات|دستورالعمل)[^.!؟\n]{0,30}(?:نادیده|فراموش)",
        r"(?:התעלם|התעלמו|שכח)[^.!?\n]{0,40}(?:הוראות|ההוראות|הנחיות)",
        r"(?:निर्देश|आदेश|अनुदेश)[^.!?।\n]{0,30}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)",
        // The best mark, in the languages of most conferences.
        r"(?:给出|給出|给予|打)[^。！？\n]{0,8}(?:最高分|最高评分|满分|最高的分数|正面评价|積極評價|好评)|(?:最高評価|最高点|満点)[^。！？\n]{0,6}(?:付け|与え|ください)|최고\s?점수를?\s?(?:주|부여)",
    ]
    .join("|")
}

/// Characters that carry a message nobody sees, or turn the text around.
fn hidden(text: &str) -> Vec<Suspicion> {
    // Emoji of flags have a few tags; what is left are alphabets that nobody sees.
    let carries = |c: char| matches!(c, '\u{e0001}'..='\u{e01ef}');
    let turns = |c: char| matches!(c, '\u{202d}' | '\u{202e}');
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        let invisible = is_hidden(c) || is_joiner(c);
        run = if invisible && !matches!(c, '\u{ad}') { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let odd: Vec<char> = text.chars().filter(|c| carries(*c) || turns(*c)).collect();
    if longest < HIDDEN_RUN && odd.is_empty() {
        return Vec::new();
    }
    let shown: Vec<char> = if odd.is_empty() {
        text.chars().filter(|c| is_hidden(*c) || is_joiner(*c)).collect()
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
