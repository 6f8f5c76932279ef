//! Which fields of a form the authors do not see, by the words of their names.

use crate::data::near::folded;

/// Who may be spoken to in confidence, by what is left of the word without an ending `s`.
const ORGANIZERS: [&str; 17] = [
    "ac",
    "1ac",
    "admin",
    "administrator",
    "board",
    "chair",
    "cochair",
    "committee",
    "editor",
    "metareviewer",
    "office",
    "organiser",
    "organizer",
    "pc",
    "sac",
    "spc",
    "tpc",
];

/// Words between `to` and who is spoken to: `to the senior area chairs`, `to fellow members of the PC`.
const MOST_TITLES: usize = 3;

/// Words that say by themselves that remarks are confidential, by their beginnings.
const CONFIDENTIAL: [&str; 4] = ["confidential", "confidentiel", "confidencial", "vertraulich"];

/// What is confidential in a paper, and no remark.
const MATTERS: [&str; 4] = ["computing", "data", "information", "transactions"];

/// Words that say so of what was written: internal remarks, but not internal validity.
const PRIVATE: [&str; 4] = ["hidden", "internal", "private", "secret"];
const REMARKS: [&str; 8] =
    ["comment", "discussion", "feedback", "justification", "letter", "message", "note", "remark"];

/// What is not done with authors, and what keeps something from them without a `not`.
const NOT_DONE: [&str; 14] = [
    "disclosed",
    "forwarded",
    "intended",
    "meant",
    "released",
    "revealed",
    "seen",
    "sent",
    "share",
    "shared",
    "show",
    "shown",
    "visible",
    "author",
];
const KEPT: [&str; 6] = ["concealed", "hidden", "invisible", "kept", "unseen", "withheld"];

/// Whether the authors do not see what is written in a field of this name.
pub(super) fn is_confidential(name: &str) -> bool {
    let words = words(name);
    let speaks_to_authors = words.iter().any(|word| word == "author");
    let main = name.split([':', ',', ';', '?']).next().unwrap_or_default();
    let main = main.split(" - ").next().unwrap_or_default();
    is_kept_from_authors(&words)
        || (!speaks_to_authors && (is_called_confidential(&words) || is_to_organizers(&words)))
        || is_private(&self::words(main))
}

/// The words of a name that tell, without the `s` at their ends.
fn words(name: &str) -> Vec<String> {
    let plain = folded(&parted(name)).replace("meta_review", "metareview").replace("co_ch", "coch");
    let tells = |word: &&str| !matches!(*word, "" | "the" | "be" | "member" | "members" | "of");
    let single = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    plain.split('_').filter(tells).map(single).collect()
}

fn is_one_of(known: &[&str]) -> impl Fn(&String) -> bool {
    move |word| known.contains(&word.as_str())
}

/// Says that authors do not see it: `not shared with authors`, `hidden from authors`.
fn is_kept_from_authors(words: &[String]) -> bool {
    let is_filler = is_one_of(&["to", "with", "from", "for", "t", "is", "are"]);
    // What authors did not show is not kept from them.
    let behind = |at: usize| {
        let is_seen = matches!(words[at].as_str(), "seen" | "unseen");
        let is_by = words.get(at + 1).is_some_and(|word| word == "by");
        if is_seen && is_by { at + 2 } else { at + 1 }
    };
    let rest = |at: usize| words[at..].iter().filter(|word| !is_filler(word));
    let to_author = |at: usize| {
        let mut rest = rest(at);
        // `until the decision`, `of other papers`: they see it, or it is theirs.
        rest.next().is_some_and(|word| word == "author")
            && rest.next().is_none_or(|word| !matches!(word.as_str(), "until" | "other"))
    };
    (0..words.len()).any(|at| match words[at].as_str() {
        "not" | "never" | "don" => {
            let next = (at + 1..words.len()).find(|&next| !is_filler(&words[next]));
            next.is_some_and(|next| {
                is_one_of(&NOT_DONE)(&words[next]) && (to_author(next) || to_author(behind(next)))
            })
        }
        word => KEPT.contains(&word) && to_author(behind(at)),
    })
}

/// `Confidential`, but not `not confidential`, nor `confidential data`.
fn is_called_confidential(words: &[String]) -> bool {
    (0..words.len()).any(|at| {
        let starts = CONFIDENTIAL.iter().any(|start| words[at].starts_with(start));
        let is_not = at > 0 && matches!(words[at - 1].as_str(), "not" | "non" | "no");
        let of_paper = words.get(at + 1).is_some_and(is_one_of(&MATTERS));
        starts && words[at] != "confidentiality" && !is_not && !of_paper
    })
}

/// `Private comments`, `Comments (private)`, `PC only`, and `ComPC`, as `HotCRP` shortens `Comments for PC`.
fn is_private(words: &[String]) -> bool {
    let is_number = |word: &&String| word.contains(|c: char| c.is_ascii_digit());
    let words: Vec<&String> = words.iter().skip_while(is_number).collect();
    let (remark, private) = (is_one_of(&REMARKS), is_one_of(&PRIVATE));
    let organizer = is_one_of(&ORGANIZERS);
    match words[..] {
        [first, second] => {
            (private(first) && remark(second))
                || (remark(first) && (private(second) || organizer(second)))
                || (first == "com" && second == "pc")
                || (organizer(first) && second == "only")
        }
        [first, second, third, ..] => {
            (private(first) && remark(second) && matches!(third.as_str(), "to" | "for" | "on"))
                || (organizer(first) && second == "only")
                || (organizer(second) && third == "only")
        }
        _ => false,
    }
}

/// A remark to somebody who organizes: `Comments for the PC`.
fn is_to_organizers(words: &[String]) -> bool {
    let (remark, organizer) = (is_one_of(&REMARKS), is_one_of(&ORGANIZERS));
    words.windows(2).enumerate().any(|(at, pair)| {
        let spoken_to = words[at + 2..].iter().take(MOST_TITLES + 1);
        let mut spoken_to = spoken_to.take_while(|word| *word != "to" && *word != "for");
        remark(&pair[0]) && matches!(pair[1].as_str(), "to" | "for") && spoken_to.any(&organizer)
    })
}

/// `ComPC` and `commentsToChairs` with their words apart.
fn parted(name: &str) -> String {
    let mut parted = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        if before.is_lowercase() && letter.is_uppercase() {
            parted.push(' ');
        }
        parted.push(letter);
        before = letter;
    }
    parted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_authors_do_not_see_is_told_by_words() {
        for name in [
            "Comments to PC",
            "Comments for PC",
            "Comments for PC (hidden from authors)",
            "Q7 (Comments for the PC members)",
            "Comments to Program Committee",
            "Comments for the Program Committee",
            "comments_to_the_programme_chairs",
            "Notes to chairs",
            "Private comments",
            "Comments (private)",
            "Confidential Comments",
            "confidential_remarks",
            "ConfidentialComments",
            "Comments to the editor",
            "Comments to the Editor-in-Chief",
            "Comments for the AC",
            "Comments to Area Chair",
            "Comment to senior area chairs",
            "Comments for SAC/AC",
            "Comments to the meta-reviewers",
            "Remarks for SPC",
            "Internal comments",
            "Hidden comments",
            "PC-only comments",
            "Area chairs only",
            "Comments not shared with authors",
            "Remarks (will not be shown to the authors)",
            "Comments to PC, not visible to authors",
            "Comments for Administrators",
            "Justification for chairs",
            "Message to the organisers",
            "Vertrauliche Kommentare",
            "Comments to TPC",
            "Comments for Technical Program Committee",
            "Comments to Program Co-Chairs",
            "Comments for Subject Area Chair",
            "Comments for Guest Editor",
            "Comments for the editorial office",
            "Comments (PC members)",
            "Not to be shared with authors",
            "Do not show to authors",
            "Comments withheld from authors",
            "Confidential",
            "ComPC",
            "CommentsToChairs",
        ] {
            assert!(is_confidential(name), "{name}");
        }
    }

    #[test]
    fn what_authors_see_is_text() {
        for name in [
            "Comments",
            "Comments to authors",
            "Comments to the Author(s)",
            "ComAut",
            "Comments for the authors and PC",
            "Comments for the PC and the authors",
            "Detailed remarks for authors, chairs and the program committee",
            "Strengths for the community",
            "Relevance to the conference",
            "Contribution to the programme",
            "Justification for score",
            "Justification for recommendation",
            "Reasons to accept",
            "Questions for the rebuttal",
            "Suggestions for improvement",
            "Internal and external validity",
            "Comments on internal validity",
            "Hidden assumptions",
            "Are private data protected?",
            "What the authors have not shown",
            "Claims not shown by the authors",
            "What acts for accuracy",
            "Space and pace",
            "Chair and table detection",
            "Recommendation to the editor",
            "Comments to Author (hidden from reviewers)",
            "Claims hidden from reviewers",
            "Comments to the PC (shared with authors)",
            "Comments for AC, reviewers and authors",
            "Reasons for the PC to accept this paper",
            "Relevance to PC topics",
            "Usefulness for administrators",
            "Comments: hidden variables",
            "Comments - internal and external validity",
            "Soundness: internal notes",
            "Internal feedback loops",
            "Contribution to secret messages",
            "Weaknesses for authors; no private comments here",
            "Weaknesses (not visible to author until notification)",
            "Limitations not discussed by the authors",
            "Comments to the authors (not confidential)",
            "Confidentiality and privacy of the method",
            "Does the paper handle confidential data?",
        ] {
            assert!(!is_confidential(name), "{name}");
        }
    }
}
