//! Expected values by hand.

use super::*;
use crate::llm::{ChatAnswer, ChatError, FinishReason, Usage};

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

fn logs(shares: [f64; 3]) -> Vec<f64> {
    shares.map(f64::ln).to_vec()
}

#[test]
fn value_uncertainty_and_mass_are_those_of_the_formulas() {
    // .1, .3, .4 of .8: 1/8, 3/8, 4/8; value 3/8; entropy (ln 8 + 3 (ln 8 - ln 3) + 4 ln 2) / 8.
    let choice = Choice::of(&logs([0.1, 0.3, 0.4]), None);
    near(choice.mass, 0.8);
    for (found, expected) in choice.probabilities.iter().zip([0.125, 0.375, 0.5]) {
        near(*found, expected);
    }
    near(choice.mean(&[-1.0, 0.0, 1.0]), 0.375);
    let entropy = (16.0 * 2.0_f64.ln() - 3.0 * 3.0_f64.ln()) / 8.0;
    near(choice.uncertainty, entropy / 3.0_f64.ln());
    near(Choice::of(&logs([0.2; 3]), None).uncertainty, 1.0);
    // Certain is 0, and is not written as -0.
    let certain = Choice::of(&[-9999.0, -9999.0, 0.0], None).uncertainty;
    assert_eq!(certain.to_bits(), 0.0_f64.to_bits());
}

#[test]
fn what_is_said_of_empty_texts_is_taken_out() {
    // 1/2, 1/4, 1/4 over 1/2, 1/3, 1/6 is 1, 3/4, 3/2 of 13/4.
    let choice = Choice::of(&logs([0.5, 0.25, 0.25]), Some(&[0.5, 1.0 / 3.0, 1.0 / 6.0]));
    for (found, expected) in choice.probabilities.iter().zip([4.0, 3.0, 6.0]) {
        near(*found, expected / 13.0);
    }
    near(choice.mass, 1.0);
    // An option that is never seen stays out, and is no 0 divided by 0.
    let never = Choice::of(&[-9999.0, 0.5_f64.ln(), 0.5_f64.ln()], Some(&[0.0, 0.5, 0.5]));
    for (found, expected) in never.probabilities.iter().zip([0.0, 0.5, 0.5]) {
        near(*found, expected);
    }
}

/// Likes the option that is named first, and `positive` where the text praises. Counts requests.
#[derive(Default)]
struct Liking(Mutex<u32>);

impl ChatModel for Liking {
    fn model(&self) -> &'static str {
        "local:liking"
    }

    fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        *self.0.lock().unwrap() += 1;
        let asked = &request.messages[1].content;
        let options = asked.rsplit_once("one word: ").unwrap().1;
        let of_question = |question: &Question| {
            let praised =
                asked.contains(&format!("good {}", question.opening.trim_end_matches(':')));
            let share = |option: &String| {
                let first: f64 = if options.starts_with(option.as_str()) { 0.25 } else { 0.125 };
                let fits = if option == "positive" && praised { 2.0 } else { 1.0 };
                (first * fits).ln()
            };
            question.options.iter().map(share).collect()
        };
        let log_probabilities = request.questions().iter().map(of_question).collect();
        let choices = Choices { log_probabilities, usage: Usage::default() };
        let (text, usage) = (choices.to_text(), Usage::default());
        Ok(ChatAnswer { text, finish: FinishReason::Stop, usage })
    }
}

fn judge(calibration: Debiasing) -> ChoiceJudge {
    let rubric = "description = \"d\"\nvalues = [-1, 0, 1]\n\
         [[categories]]\nname = \"Clarity\"\ndefinition = \"c\"\n\
         [[categories]]\nname = \"Novelty\"\ndefinition = \"n\"\n";
    let rubric = Rubric::parse("small", rubric).unwrap();
    ChoiceJudge::new(&rubric, Prompt::load("judge-choice").unwrap(), calibration).unwrap()
}

fn item() -> Item {
    Item { text: "good Novelty".into(), gold: None }
}

#[test]
fn calibration_takes_out_a_liking_and_keeps_what_the_text_says() {
    // (1/4, 1/8, 1/8) and with praise (1/4, 1/8, 1/4): values -1/4 and 0.
    let plain = judge(Debiasing::None).judge(&item(), &Liking::default()).unwrap();
    let values = plain.values.unwrap();
    near(values[0], -0.25);
    near(values[1], 0.0);
    near(plain.choices.unwrap()[0].mass, 0.5);
    // Calibration leaves (1, 1, 1) and (1, 1, 2): values 0 and 1/4.
    let (judge, model) = (judge(Debiasing::ContentFree), Liking::default());
    let values = judge.judge(&item(), &model).unwrap().values.unwrap();
    near(values[0], 0.0);
    near(values[1], 0.25);
    assert_eq!(*model.0.lock().unwrap(), 4);
    let told = judge.requests(&item(), model.model()).unwrap().len()
        + judge.requests_for_calibration(model.model()).unwrap().len();
    assert_eq!(told, 4);
    // What empty texts give is asked for once.
    judge.judge(&item(), &model).unwrap();
    assert_eq!(*model.0.lock().unwrap(), 5);
}

#[test]
fn values_without_words_are_refused() {
    let rubric = Rubric::load("crowd-answers").unwrap();
    let prompt = Prompt::load("judge-choice").unwrap();
    assert!(ChoiceJudge::new(&rubric, prompt, Debiasing::None).is_none());
}

#[test]
fn a_model_without_probabilities_is_an_error_that_says_so() {
    struct Words;
    impl ChatModel for Words {
        fn model(&self) -> &'static str {
            "words"
        }
        fn complete(&self, _: &ChatRequest) -> Result<ChatAnswer, ChatError> {
            let text = "positive".into();
            Ok(ChatAnswer { text, finish: FinishReason::Stop, usage: Usage::default() })
        }
    }
    let error = judge(Debiasing::None).judge(&item(), &Words).unwrap_err();
    assert!(error.to_string().contains("`words` gives no probabilities"), "{error}");
}
