use std::sync::Mutex;

use super::*;
use crate::llm::{FinishReason, Usage};

/// Says its lines one after the other and keeps what it was asked.
struct Script {
    lines: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl Script {
    fn new(lines: &[&'static str]) -> Self {
        let lines = lines.iter().rev().copied().collect();
        Self { lines: Mutex::new(lines), asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl ChatModel for Script {
    fn model(&self) -> &'static str {
        "script"
    }
    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.asked.lock().unwrap().push(request.clone());
        let line = self.lines.lock().unwrap().pop().expect("the script is long enough");
        let usage = Usage { prompt_tokens: 10, completion_tokens: 1, estimated: false };
        Ok(ChatAnswer { text: line.into(), finish: FinishReason::Stop, usage })
    }
}

const RUBRIC: &str = "
description = \"d\"
values = [-1, 0, 1]
[[categories]]
name = \"Clarity\"
definition = \"is it clear\"
[[categories]]
name = \"Novelty\"
definition = \"is it new\"
";

const GOOD: &str = r#"{"Clarity": 1, "Novelty": 0}"#;
const OTHER: &str = r#"{"Clarity": 1, "Novelty": -1}"#;

fn single() -> Single {
    Single {
        rubric: Rubric::parse("r", RUBRIC).unwrap(),
        prompt: Prompt::load("judge-rubric").unwrap(),
        sampling: Sampling { temperature: 0.0, seed: 0, max_tokens: 100 },
    }
}

fn item() -> Item {
    Item { text: "A clear paper.".into(), gold: Some(vec![1.0, -1.0]) }
}

fn feedback(model: &Arc<Script>, kind: CommentKind, time: FeedbackTime) -> Feedback {
    let name = match kind {
        CommentKind::Binary => "feedback-binary",
        CommentKind::Textual => "feedback-textual",
    };
    Feedback {
        model: Arc::clone(model) as Arc<dyn ChatModel>,
        kind,
        time,
        with_gold: true,
        prompt: Prompt::load(name).unwrap(),
        sampling: single().sampling,
    }
}

fn judged(judge: &Script, turns: u32, proposals: u32, feedback: Option<Feedback>) -> Transcript {
    let strategy = FeedbackLoop::new(
        single(),
        turns,
        proposals,
        feedback.map(|feedback| Comments::By(Box::new(feedback))),
    )
    .unwrap();
    strategy.judge(&item(), judge).unwrap()
}

/// The last message of the last request.
fn last_message(script: &Script) -> String {
    script.asked().last().unwrap().messages.last().unwrap().content.clone()
}

#[test]
fn a_good_answer_takes_one_turn() {
    let judge = Script::new(&[GOOD]);
    let transcript = judged(&judge, 5, 2, None);
    assert_eq!(transcript.turns.len(), 1);
    assert_eq!(transcript.values, Some(vec![1.0, 0.0]));
    assert_eq!(transcript.usage.total(), 11);
}

#[test]
fn the_judge_is_told_exactly_what_was_wrong() {
    let judge = Script::new(&[r#"{"Clarity": 5, "Originality": 1}"#, GOOD]);
    let transcript = judged(&judge, 5, 2, None);
    assert_eq!(transcript.turns.len(), 2);
    assert_eq!(transcript.values, Some(vec![1.0, 0.0]));
    let told = last_message(&judge);
    for part in [
        "`Clarity` is 5, but it must be -1 or 0 or 1",
        "`Originality` was not asked for",
        "`Novelty` is missing",
        "4 turns left",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let second = &judge.asked()[1].messages;
    assert_eq!(second[2].role, Role::Assistant);
    assert!(second[2].content.contains("Originality"));
}

#[test]
fn turns_run_out_without_a_guess() {
    let judge = Script::new(&["no"; 3]);
    let transcript = judged(&judge, 3, 2, None);
    assert_eq!((transcript.turns.len(), transcript.values.clone()), (3, None));
    assert!(!transcript.success_after(3, None));
}

#[test]
fn a_disagreement_leads_to_a_second_and_last_proposal() {
    let judge = Script::new(&[GOOD, OTHER]);
    let expert = Arc::new(Script::new(&[r#"{"verdict": "disagree"}"#]));
    let settings = feedback(&expert, CommentKind::Binary, FeedbackTime::OnProposal);
    let transcript = judged(&judge, 5, 2, Some(settings));
    assert_eq!(transcript.values, Some(vec![1.0, -1.0]));
    assert_eq!(transcript.turns[0].agreed, Some(false));
    assert_eq!(expert.asked().len(), 1, "the last proposal is not commented on");
    assert!(last_message(&judge).contains("the expert disagrees"));
    let gold = item().gold.unwrap();
    let success: Vec<bool> =
        (1..=3).map(|turns| transcript.success_after(turns, Some(&gold))).collect();
    assert_eq!(success, [false, true, true]);
}

#[test]
fn the_control_asks_again_whatever_was_answered_and_asks_nobody() {
    // The first answer is unreadable and complained about; the two proposals are both right.
    let judge = Script::new(&["no", OTHER, OTHER]);
    let comments = Some(Comments::CheckAgain(FeedbackTime::OnProposal));
    let strategy = FeedbackLoop::new(single(), 5, 2, comments).unwrap();
    let transcript = strategy.judge(&item(), &judge).unwrap();
    assert_eq!(transcript.turns.len(), 3);
    assert!(transcript.turns.iter().all(|turn| turn.agreed.is_none()));
    assert_eq!(transcript.usage.total(), 33, "nobody else was asked");
    let asked = judge.asked();
    assert!(!asked[1].messages.last().unwrap().content.contains(CHECK_AGAIN));
    let told = last_message(&judge);
    // Nothing but the words and how to answer: no verdict, no value, nothing of the text.
    assert!(told.starts_with("Please check again.\n\nYou have 3 turns left."), "{told}");
    assert!(!told.contains("agree") && !told.contains("clear paper"), "{told}");

    // With one proposal there is nothing to ask again for.
    let judge = Script::new(&[GOOD]);
    let comments = Some(Comments::CheckAgain(FeedbackTime::OnProposal));
    let strategy = FeedbackLoop::new(single(), 5, 1, comments).unwrap();
    assert_eq!(strategy.judge(&item(), &judge).unwrap().turns.len(), 1);
}

#[test]
fn agreement_or_an_unreadable_comment_ends_it() {
    for comment in [r#"{"verdict": "agree"}"#, "well..."] {
        let judge = Script::new(&[GOOD]);
        let expert = Arc::new(Script::new(&[comment]));
        let settings = feedback(&expert, CommentKind::Binary, FeedbackTime::OnProposal);
        assert_eq!(judged(&judge, 5, 2, Some(settings)).turns.len(), 1);
    }
}

#[test]
fn every_turn_means_also_after_an_unreadable_answer() {
    let run = |time, comments: &[&'static str]| {
        let judge = Script::new(&["hm", GOOD]);
        let expert = Arc::new(Script::new(comments));
        judged(&judge, 5, 2, Some(feedback(&expert, CommentKind::Textual, time)));
        (expert.asked().len(), last_message(&judge))
    };
    let (asked, told) = run(FeedbackTime::EveryTurn, &["DISAGREE. Look again.", "AGREE"]);
    assert_eq!(asked, 2);
    assert!(told.contains("Look again."), "{told}");
    let (asked, told) = run(FeedbackTime::OnProposal, &["AGREE"]);
    assert_eq!(asked, 1);
    assert!(!told.contains("Expert"), "{told}");
}

#[test]
fn the_right_values_reach_the_feedback_model_and_never_the_judge() {
    let comments = [
        "DISAGREE. The right answer is {\"Clarity\": 1, \"Novelty\": -1}.",
        "DISAGREE: Novelty should be -1.",
        "Disagree, I would put −1 under novelty",
    ];
    for comment in comments {
        let judge = Script::new(&[GOOD, GOOD]);
        let expert = Arc::new(Script::new(&[comment]));
        let settings = feedback(&expert, CommentKind::Textual, FeedbackTime::OnProposal);
        let transcript = judged(&judge, 5, 2, Some(settings));
        assert_eq!(transcript.withheld, 1, "{comment}");
        let expert_saw: String =
            expert.asked()[0].messages.iter().map(|m| m.content.clone()).collect();
        assert!(expert_saw.contains(r#""Novelty":-1"#), "{expert_saw}");
        for request in judge.asked() {
            for message in &request.messages {
                assert!(!message.content.contains(comment), "{}", message.content);
                assert!(!message.content.contains(r#""Novelty":-1"#), "{}", message.content);
            }
        }
        assert!(last_message(&judge).contains("the expert disagrees"));
    }
}

#[test]
fn a_comment_without_values_is_passed_on_inside_a_fence() {
    let comment = "DISAGREE. You overlooked that section 2 repeats earlier work.";
    let judge = Script::new(&[GOOD, OTHER]);
    let expert = Arc::new(Script::new(&[comment]));
    let settings = feedback(&expert, CommentKind::Textual, FeedbackTime::OnProposal);
    let transcript = judged(&judge, 5, 2, Some(settings));
    assert_eq!(transcript.withheld, 0);
    let told = last_message(&judge);
    assert!(told.contains(comment) && told.contains("<<<"), "{told}");
}

#[test]
fn gold_stays_home_unless_the_feedback_model_may_see_it() {
    let judge = Script::new(&[GOOD]);
    let expert = Arc::new(Script::new(&["AGREE"]));
    let settings = Feedback {
        with_gold: false,
        ..feedback(&expert, CommentKind::Textual, FeedbackTime::OnProposal)
    };
    judged(&judge, 5, 2, Some(settings));
    let saw: String = expert.asked()[0].messages.iter().map(|m| m.content.clone()).collect();
    assert!(!saw.contains(r#""Novelty":-1"#), "{saw}");
}

#[test]
fn success_and_invalid_turns_are_counted_by_hand() {
    // Item 1: invalid, then complete. Item 2: complete at once. Item 3: invalid three times.
    let transcripts = [
        judged(&Script::new(&["x", GOOD]), 3, 2, None),
        judged(&Script::new(&[GOOD]), 3, 2, None),
        judged(&Script::new(&["x", "y", "z"]), 3, 2, None),
    ];
    let pairs: Vec<(&Transcript, Option<&[f64]>)> = transcripts.iter().map(|t| (t, None)).collect();
    let progression = Progression::of(&pairs, 3);
    assert_eq!(progression.success_after, [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    // 2 + 1 + 3 answers, of which 1 + 0 + 3 were unreadable.
    assert_eq!((progression.turns, progression.invalid_share), (6, Some(4.0 / 6.0)));
    let none = Progression::of(&[], 3);
    assert_eq!((none.success_after.len(), none.invalid_share), (0, None));
}

#[test]
fn settings_out_of_range_are_refused() {
    assert!(FeedbackLoop::new(single(), 0, 2, None).is_err());
    assert!(FeedbackLoop::new(single(), 5, 0, None).is_err());
    assert!(FeedbackLoop::new(single(), 21, 2, None).is_err());
}

#[test]
fn labels_are_asked_for_until_they_can_be_read() {
    let prompt = Prompt::load("label-toxicity").unwrap();
    let ask = |lines: &[&'static str], turns| {
        let model = Script::new(lines);
        let request = single().request(&item()).unwrap();
        let (verdict, used) = ask_until_readable(&model, request, prompt.fields(), turns).unwrap();
        (verdict.map(|verdict| verdict.values.len()), used, last_message(&model))
    };
    let good = r#"{"hateful": "no", "offensive": "yes", "toxic": "no"}"#;
    let partial = r#"{"hateful": "no", "offensive": "yes"}"#;
    let (verdict, used, told) = ask(&[partial, good], 5);
    assert_eq!((verdict, used), (Ok(3), 2));
    assert!(told.contains("- `toxic` is missing") && told.contains("4 turns left"), "{told}");
    let (verdict, used, _) = ask(&[partial, partial], 2);
    assert_eq!((verdict, used), (Err(vec![AnswerProblem::Missing { name: "toxic".into() }]), 2));
}

#[test]
fn a_complaint_is_the_same_in_both_ways_to_ask_and_says_nothing_twice() {
    let bad = r#"{"Clarity": 1, "Clarity": 0, "Clarity": -1, "Novelty": 0}"#;
    let judge = Script::new(&[bad, GOOD]);
    judged(&judge, 5, 2, None);
    let told = last_message(&judge);
    assert_eq!(told.matches("`Clarity` stands twice").count(), 1, "{told}");
    let asked = Script::new(&[bad, GOOD]);
    let request = single().request(&item()).unwrap();
    let (verdict, turns) =
        ask_until_readable(&asked, request, single().rubric.fields(), 5).unwrap();
    assert_eq!((verdict.is_ok(), turns), (true, 2));
    assert_eq!(last_message(&asked), told);
}

#[test]
fn a_comment_that_says_nothing_is_counted_and_is_no_agreement() {
    for (kind, comment) in [(CommentKind::Binary, "Hm."), (CommentKind::Textual, " ")] {
        let judge = Script::new(&[GOOD, OTHER]);
        let expert = Arc::new(Script::new(&[comment]));
        let settings = feedback(&expert, kind, FeedbackTime::OnProposal);
        let transcript = judged(&judge, 5, 2, Some(settings));
        assert_eq!((transcript.unusable_comments, transcript.turns.len()), (1, 1), "{comment}");
        assert_eq!(transcript.turns[0].agreed, None);
        assert_eq!(Progression::of(&[(&transcript, None)], 5).unusable_comments, 1);
    }
}
