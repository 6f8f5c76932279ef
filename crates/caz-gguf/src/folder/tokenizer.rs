//! tokenizer.json: how text becomes tokens.
//!
//! What it says of normalising and splitting texts and of merging bytes is done by the crate that
//! transformers uses, too. Its control tokens are not given to that crate: they are found in what a
//! chat template adds, and nowhere else, as for GGUF files. What texts would become outside byte-level
//! pairs is refused by name.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::super::error::{ModelError, ModelFault};
use super::super::gguf::bad;
use super::super::tokenizer::{Kind, Tokenizer, Tokens};
use super::TOKENIZER;
use super::json::Json;

/// Reads the tokenizer of a model with `vocabulary` tokens, of which `ends` end an answer.
pub(super) fn read(
    folder: &Path,
    settings: Option<&Json>,
    vocabulary: usize,
    mut ends: Vec<u32>,
) -> Result<Tokenizer, ModelError> {
    let file = Json::read(&folder.join(TOKENIZER))?;
    refuse_unknown(&file)?;
    let by_id = tokens(&file, vocabulary)?;
    let path = file.path.clone();
    let wrong = |fault| ModelError::Model { path: path.clone(), fault };
    let pairs = pairs(file, &by_id)?;
    let begin = special(settings, "bos_token")?;
    let end = special(settings, "eos_token")?;
    ends.extend((0..).zip(&by_id).filter(|(_, (token, _))| *token == end).map(|(id, _)| id));
    if ends.is_empty() {
        return Err(wrong(ModelFault::MissingKey { key: "eos_token".into() }));
    }
    Tokenizer::new(Tokens { pairs, by_id, ends, first: None, begin, end }).map_err(wrong)
}

/// The text of a token that the settings name, empty if they do not.
fn special(settings: Option<&Json>, key: &str) -> Result<String, ModelError> {
    let Some(file) = settings else { return Ok(String::new()) };
    match file.get(key) {
        None => Ok(String::new()),
        Some(value) => value
            .as_str()
            .or_else(|| value.get("content")?.as_str())
            .map(str::to_owned)
            .ok_or_else(|| file.wrong(key, "is no token")),
    }
}

/// The steps of normalising or splitting a text, in their order.
fn steps<'a>(file: &'a Json, key: &str, list: &str) -> Vec<&'a Value> {
    match file.get(key) {
        Some(value) if value["type"] == "Sequence" => {
            value[list].as_array().into_iter().flatten().collect()
        }
        value => value.into_iter().collect(),
    }
}

fn refuse_unknown(file: &Json) -> Result<(), ModelError> {
    let kind = |value: &Value| match value["type"].as_str() {
        Some(kind) => kind.to_owned(),
        None => "a type that is not named".to_owned(),
    };
    let unsupported = |key: &str, value: &Value, known: &str| {
        let reason = format!("is {}, which is not supported; {known}", kind(value));
        file.wrong(key, reason)
    };
    if let Some(step) =
        steps(file, "normalizer", "normalizers").into_iter().find(|step| step["type"] != "NFC")
    {
        return Err(unsupported("normalizer", step, "NFC is"));
    }
    let steps = steps(file, "pre_tokenizer", "pretokenizers");
    let (last, others) = match steps.split_last() {
        Some((last, others)) if last["type"] == "ByteLevel" => (*last, others),
        Some((last, _)) => {
            return Err(unsupported("pre_tokenizer", last, "ByteLevel is, as the last step"));
        }
        None => return Err(file.missing("pre_tokenizer")),
    };
    if last["add_prefix_space"] != json!(false) {
        return Err(
            file.wrong("pre_tokenizer", "adds a space before texts, which is not supported")
        );
    }
    for step in others {
        match step["type"].as_str() {
            Some("Digits") => {}
            // Anything else would drop parts of a text.
            Some("Split") if step["behavior"] == "Isolated" && step["invert"] != json!(true) => {}
            _ => {
                let known = "Split into isolated parts, Digits and ByteLevel are";
                return Err(unsupported("pre_tokenizer", step, known));
            }
        }
    }
    let model = file.get("model").ok_or_else(|| file.missing("model"))?;
    if model["type"].as_str().is_some_and(|kind| kind != "BPE") {
        return Err(unsupported("model", model, "BPE is"));
    }
    for key in ["dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"] {
        let is_off = match &model[key] {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Number(number) => number.as_f64() == Some(0.0),
            _ => false,
        };
        if !is_off {
            return Err(file.wrong(&format!("model.{key}"), "is not supported"));
        }
    }
    Ok(())
}

/// The pairs and their tokens.
fn vocabulary_of(file: &Json) -> Result<&Map<String, Value>, ModelError> {
    let key = "model.vocab";
    file.value.pointer("/model/vocab").and_then(Value::as_object).ok_or_else(|| file.missing(key))
}

/// Every token and what it is for, by id.
fn tokens(file: &Json, vocabulary: usize) -> Result<Vec<(String, Kind)>, ModelError> {
    let id_of = |key: &str, token: &str, value: &Value| {
        let id = value.as_u64().and_then(|id| usize::try_from(id).ok());
        id.filter(|id| *id < vocabulary).ok_or_else(|| {
            let reason = format!("gives `{token}` the id {value}; the model has {vocabulary}");
            file.wrong(key, reason)
        })
    };
    let mut tokens: Vec<(String, Kind)> = Vec::new();
    let mut put = |id: usize, token: &str, kind: Kind| {
        if tokens.len() <= id {
            tokens.resize(id + 1, (String::new(), Kind::Text));
        }
        let is_free = tokens[id].0.is_empty() || tokens[id].0 == token;
        tokens[id] = (token.to_owned(), kind);
        is_free
    };
    let pairs = vocabulary_of(file)?;
    for (token, id) in pairs {
        if !put(id_of("model.vocab", token, id)?, token, Kind::Text) {
            return Err(file.wrong("model.vocab", format!("gives `{token}` the id of another")));
        }
    }
    let key = "added_tokens";
    let added = match file.get(key) {
        None => &Vec::new(),
        Some(value) => value.as_array().ok_or_else(|| file.wrong(key, "is no list"))?,
    };
    let mut names = BTreeSet::new();
    for one in added {
        let token = one["content"].as_str().filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| file.wrong(key, "holds one without a text"))?;
        if !names.insert(token) {
            return Err(file.fault(ModelFault::Duplicate { name: token.to_owned() }));
        }
        for flag in ["lstrip", "rstrip", "single_word"] {
            if one[flag] == json!(true) {
                let reason = format!("holds `{token}` with {flag}, which is not supported");
                return Err(file.wrong(key, reason));
            }
        }
        let kind = if one["special"] == json!(true) { Kind::Control } else { Kind::UserDefined };
        let is_elsewhere = pairs.get(token).is_some_and(|id| *id != one["id"]);
        if !put(id_of(key, token, &one["id"])?, token, kind) || is_elsewhere {
            return Err(file.wrong(key, format!("gives `{token}` another id")));
        }
    }
    Ok(tokens)
}

/// What merges the bytes of a text without any token that is found whole.
fn pairs(file: Json, tokens: &[(String, Kind)]) -> Result<tokenizers::Tokenizer, ModelError> {
    let control: BTreeSet<&str> = tokens
        .iter()
        .filter(|(_, kind)| *kind == Kind::Control)
        .map(|(token, _)| token.as_str())
        .collect();
    let Json { path, mut value } = file;
    let wrong = |error: &dyn Display| ModelError::Model {
        path: path.clone(),
        fault: bad("model", format!("cannot be used: {error}")),
    };
    if let Some(vocabulary) = value.pointer_mut("/model/vocab").and_then(Value::as_object_mut) {
        // No merge can make one then, and no word can be one.
        vocabulary.retain(|token, _| !control.contains(token.as_str()));
    }
    // A control token, in most; bytes without a token are left out.
    value["model"]["unk_token"] = Value::Null;
    value["model"]["type"] = json!("BPE");
    value["added_tokens"] = json!([]);
    for key in ["truncation", "padding", "post_processor", "decoder"] {
        value[key] = Value::Null;
    }
    let text = serde_json::to_vec(&value).map_err(|error| wrong(&error))?;
    // A large vocabulary takes more memory as JSON than as anything else.
    drop(value);
    tokenizers::Tokenizer::from_bytes(text).map_err(|error| wrong(&error))
}
