//! Which fields of a form the authors do not see, by the words of their names.

use crate::data::near::folded;

/// Who may be spoken to in confidence, after `to` or `for`.
const ORGANIZERS: [&str; 23] = [
    "pc",
    "pcs",
    "spc",
    "spcs",
    "ac",
    "acs",
    "sac",
    "sacs",
    "chair",
    "chairs",
    "editor",
    "editors",
    "committee",
    "organizer",
    "organizers",
    "organiser",
    "organisers",
    "admin",
    "admins",
    "administrator",
    "administrators",
    "metareviewer",
    "metareviewers",
];

/// What may stand before them: `to the senior area chairs`.
const TITLES: [&str; 14] = [
    "action",
    "and",
    "area",
    "associate",
    "conference",
    "general",
    "handling",
    "managing",
    "or",
    "program",
    "programme",
    "senior",
    "track",
    "workshop",
];

/// Words that say by themselves that remarks are confidential, by their beginnings.
const CONFIDENTIAL: [&str; 4] = ["confidential", "confidentiel", "confidencial", "vertraulich"];

/// Words that say so beside what was written: internal remarks, but not internal validity.
const PRIVATE: [&str; 4] = ["hidden", "internal", "private", "secret"];
const REMARKS: [&str; 10] = [
    "comment",
    "comments",
    "discussion",
    "feedback",
    "message",
    "messages",
    "note",
    "notes",
    "remark",
    "remarks",
];

/// What keeps a field from its authors, between words.
const NOT_FOR_AUTHORS: [&str; 16] = [
    "_hidden_from_",
    "_invisible_to_author",
    "_not_author",
    "_not_disclosed_to_author",
    "_not_for_author",
    "_not_forwarded_to_author",
    "_not_intended_for_author",
    "_not_meant_for_author",
    "_not_released_to_author",
    "_not_revealed_to_author",
    "_not_seen_by_author",
    "_not_sent_to_author",
    "_not_shared_with_author",
    "_not_shown_to_author",
    "_not_to_author",
    "_not_visible_to_author",
];

/// Whether the authors do not see what is written in a field of this name.
pub(super) fn is_confidential(name: &str) -> bool {
    let plain = folded(&parted(name)).replace("meta_review", "metareview");
    let is_word = |word: &&str| !matches!(*word, "the" | "be" | "member" | "members");
    let words: Vec<&str> = plain.split('_').filter(is_word).collect();
    let are = |first: &[&str], second: &[&str]| {
        words.windows(2).any(|pair| first.contains(&pair[0]) && second.contains(&pair[1]))
    };
    let together = format!("_{}_", words.join("_"));
    words.iter().any(|word| CONFIDENTIAL.iter().any(|start| word.starts_with(start)))
        || are(&PRIVATE, &REMARKS)
        || are(&REMARKS, &PRIVATE)
        || are(&ORGANIZERS, &["only"])
        // `ComPC`, as HotCRP shortens `Comments for PC`.
        || are(&["com"], &["pc"])
        || NOT_FOR_AUTHORS.iter().any(|part| together.contains(part))
        || is_to_organizers(&words)
}

/// Whether somebody is spoken to who organizes, and no author beside.
fn is_to_organizers(words: &[&str]) -> bool {
    let is_author = |word: &str| matches!(word, "author" | "authors");
    let is_organizer = |word: &str| ORGANIZERS.contains(&word);
    let spoken_to: Vec<&str> = (1..words.len())
        .filter(|&at| matches!(words[at - 1], "to" | "for"))
        .flat_map(|at| {
            let rest = words[at..].iter().copied();
            rest.take_while(|&word| is_author(word) || is_organizer(word) || TITLES.contains(&word))
        })
        .collect();
    spoken_to.iter().copied().any(is_organizer) && !spoken_to.iter().copied().any(is_author)
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
        ] {
            assert!(!is_confidential(name), "{name}");
        }
    }
}
