//! The tokens of the static model are those of the `tokenizers` crate on any text.

use std::collections::BTreeSet;

use caz::for_tests::StaticModel;
use proptest::prelude::*;
use rayon::prelude::*;
use tokenizers::Tokenizer;

const TOKENIZER: &[u8] = include_bytes!("../../models/static-minilm-128/tokenizer.json");

/// The reference: the bundled tokenizer as the `tokenizers` crate reads it.
fn reference() -> Tokenizer {
    Tokenizer::from_bytes(TOKENIZER).expect("a tokenizer")
}

fn pieces(model: &StaticModel, text: &str) -> Vec<Option<u32>> {
    model.wordpiece().expect("its tokenizer is that of BERT").pieces(text)
}

fn expected(reference: &Tokenizer, text: &str) -> Vec<Option<u32>> {
    let unknown = reference.token_to_id("[UNK]");
    let encoding = reference.encode_fast(text, false).expect("tokens");
    encoding.get_ids().iter().map(|&id| (Some(id) != unknown).then_some(id)).collect()
}

#[test]
fn every_single_character_is_cut_as_the_reference_does() {
    let (reference, model) = (reference(), StaticModel::bundled());
    let text = |c: &char| format!("on{c}ly {c} ");
    let is_alike = |text: &str| pieces(&model, text) == expected(&reference, text);
    let characters: Vec<char> = ('\0'..=char::MAX).collect();
    // Words apart are cut apart, so a hundred are asked for at once.
    let unlike = characters
        .par_chunks(100)
        .filter(|some| !is_alike(&some.iter().map(text).collect::<String>()))
        .flatten_iter()
        .filter(|&c| !is_alike(&text(c)));
    let different: BTreeSet<&char> = unlike.collect();
    assert!(different.is_empty(), "{} differ: {different:x?}", different.len());
}

fn nasty_text() -> impl Strategy<Value = String> {
    let vocabulary: BTreeSet<String> = reference().get_vocab(false).into_keys().collect();
    let vocabulary: Vec<String> = vocabulary.into_iter().collect();
    let piece = prop_oneof![
        4 => prop::sample::select(vocabulary),
        2 => "[ \n\t\r.,;(-]{1,2}",
        2 => "[a-zA-Z0-9]{1,12}",
        1 => "\\PC{1,4}",
        1 => prop::collection::vec(any::<char>(), 1..4).prop_map(|c| c.into_iter().collect()),
        1 => "[\u{300}-\u{330}\u{94d}\u{302e}\u{1b44}\u{16ff0}\u{e9}\u{130}\u{3a3}\u{ac00}-\u{ac20}]{1,4}",
        1 => "[\u{0}\u{b}\u{c}\u{1c}\u{7f}\u{85}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}\u{fffd}\u{3000}]{1,3}",
        1 => "[\u{4e00}-\u{4e20}\u{f900}\u{2f800}\u{3042}\u{30a2}]{1,3}",
        1 => Just("x\u{301}".repeat(60)),
        1 => Just("Ab".repeat(50)),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

#[test]
fn random_texts_are_cut_as_the_reference_does() {
    let (reference, model) = (reference(), StaticModel::bundled());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(5000));
    runner
        .run(&nasty_text(), |text| {
            prop_assert_eq!(pieces(&model, &text), expected(&reference, &text));
            Ok(())
        })
        .unwrap();
}
