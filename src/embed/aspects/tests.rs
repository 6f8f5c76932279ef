use super::*;
use crate::embed::static_model::StaticModel;
use crate::error::{ErrorKind, Kinded};

fn rubric(name: &str, scale: &str, categories: &[(&str, &str)]) -> Rubric {
    let mut source = format!("description = \"d\"\n{scale}\n");
    for (name, definition) in categories {
        source += &format!("[[categories]]\nname = \"{name}\"\ndefinition = \"{definition}\"\n");
    }
    Rubric::parse(name, &source).unwrap()
}

fn aspects19() -> AspectEmbedder {
    let rubric = Rubric::load(DEFAULT_RUBRIC).unwrap();
    AspectEmbedder::new(Box::new(StaticModel::bundled()), &rubric).unwrap()
}

fn rows(embedder: &AspectEmbedder, texts: &[&str]) -> Vec<Vec<f64>> {
    let embeddings = embedder.embed(texts, &NoProgress).unwrap();
    let Vectors::Dense(rows) = embeddings.vectors else { panic!("aspects are dense") };
    rows.rows().map(<[f64]>::to_vec).collect()
}

/// A safetensors file as the script writes it.
fn file(metadata: &[(&str, &str)], tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    use safetensors::tensor::{Dtype, TensorView};
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        (*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap())
    });
    let metadata = metadata.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    safetensors::serialize(views, Some(metadata)).unwrap()
}

/// Vectors of two numbers: how often `good` and `bad` stand in the text. A colon is good, too, so that
/// what is made of a category's name and definition has a direction.
struct Counts;

impl Embedder for Counts {
    fn name(&self) -> &'static str {
        "counts"
    }

    fn embed(&self, texts: &[&str], progress: &dyn Progress) -> Result<Embeddings, EmbedError> {
        let mut rows = DenseVectors::new(2);
        for text in texts {
            let count = |word| text.matches(word).count() as f64;
            rows.push(&[count("good") + count(": "), count("bad")]);
            progress.advance(1);
        }
        Ok(Embeddings { vectors: Vectors::Dense(rows), long_texts: 0 })
    }
}

const METADATA: [(&str, &str); 8] = [
    ("format", "caz-aspects-1"),
    ("base", "counts"),
    ("probe", "good bad"),
    ("trained", "[\"Clarity and Presentation\"]"),
    ("prototypes", "[\"Reproducibility\"]"),
    ("prototype_words", "[[\"code\"]]"),
    ("common_words", "[\"the\"]"),
    ("terms", "[\"murky\", \"not clear\"]"),
];

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

const TENSORS: [(&str, &[usize], &[f32]); 10] = [
    ("about.bias", &[1], &[-1.0]),
    ("about.vectors", &[1, 2], &[1.0, 2.0]),
    ("about.words", &[1, 2], &[0.5, 4.0]),
    ("polarity.bias", &[3], &[0.0, 0.0, 0.0]),
    ("polarity.vectors", &[3, 2], &[0.0, 3.0, 0.0, 0.0, 3.0, 0.0]),
    ("polarity.words", &[3, 2], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("prototypes", &[1, 2], &[0.0, 1.0]),
    ("ramps", &[2, 2], &[0.25, 0.75, 0.0, 1.0]),
    ("mean", &[2], &[0.0, 0.5]),
    ("probe", &[2], &[HALF, HALF]),
];

fn small() -> AspectEmbedder {
    let heads = Heads::from_bytes(&file(&METADATA, &TENSORS)).unwrap();
    let rubric = Rubric::load(DEFAULT_RUBRIC).unwrap();
    AspectEmbedder::with_heads(Box::new(Counts), heads, &rubric).unwrap()
}

#[test]
fn a_sentence_by_hand() {
    let embedder = small();
    let read = |sentence: &str, vector: &[f64]| embedder.read(sentence, vector).unwrap();
    let position = |name: &str| embedder.categories.iter().position(|c| c == name).unwrap();
    let (clarity, code) = (position("Clarity and Presentation"), position("Reproducibility"));

    // 1 / (1 + e^-(-1 + 2 + 0.5 + 4)), words counted once; (1 - e^4) / (1 + e^4 + 1).
    let found = read("murky murky, not clear: bad", &[0.0, 2.0]);
    assert!((found.about[clarity] - 1.0 / (1.0 + (-5.5f64).exp())).abs() < 1e-12);
    let e4 = 4f64.exp();
    assert!((found.polarity - (1.0 - e4) / (e4 + 2.0)).abs() < 1e-12);
    assert!(found.about[code].abs() < 1e-300, "it speaks of no code");

    // Praise: 1 / (1 + e^0); (e^3 - 1) / (1 + 1 + e^3).
    let found = read("good", &[3.0, 0.0]);
    assert!((found.about[clarity] - 0.5).abs() < 1e-12);
    let e3 = 3f64.exp();
    assert!((found.polarity - (e3 - 1.0) / (e3 + 2.0)).abs() < 1e-12);

    // Closeness 1 - 0.5 = 0.5 is half of the way from 0.25 to 0.75; that of (0.6, 0.8), 0.3, a tenth.
    assert!((read("bad code", &[0.0, 1.0]).about[code] - 0.5).abs() < 1e-6);
    assert!((read("bad code", &[6.0, 8.0]).about[code] - 0.1).abs() < 1e-6);
    assert!(read("good code", &[1.0, 0.0]).about[code].abs() < 1e-300);
    assert!(embedder.read("code", &[0.0, 0.0]).is_none());
}

#[test]
fn a_review_is_the_formula_over_its_sentences_and_knows_no_other_review() {
    let embedder = small();
    let texts =
        ["A good start. It is murky and bad!\n---\nNothing to say.", "", "nothing", "bad code"];
    let found = rows(&embedder, &texts);
    // The twin: all sentences of a text with a direction, one by one.
    for (text, values) in texts.iter().zip(&found) {
        for (category, value) in values.iter().enumerate() {
            let (mut signed, mut weight) = (0.0, 0.0);
            for sentence in sentences(text) {
                let vector = vector(&Counts, sentence).unwrap();
                if let Some(read) = embedder.read(sentence, &vector) {
                    signed += read.about[category] * read.polarity;
                    weight += (read.about[category] * read.polarity).abs();
                }
            }
            assert!((value - signed / (1.0 + weight)).abs() < 1e-12);
        }
    }
    assert!(found[0][0] != 0.0 && found[3][0] < 0.0);
    assert!(found[1].iter().chain(&found[2]).all(|&value| value == 0.0), "no evidence is 0");
    for (text, values) in texts.iter().zip(&found) {
        assert_eq!(rows(&embedder, &[text]), std::slice::from_ref(values));
    }
}

#[test]
fn damaged_or_foreign_heads_are_refused() {
    let read = |metadata: &[(&str, &str)], tensors: &[(&str, &[usize], &[f32])]| {
        Heads::from_bytes(&file(metadata, tensors)).unwrap_err().to_string()
    };
    assert!(Heads::from_bytes(b"no heads").is_err());
    for left_out in 0..METADATA.len() {
        let mut metadata = METADATA.to_vec();
        let (key, _) = metadata.remove(left_out);
        assert!(read(&metadata, &TENSORS).contains(key), "{key}");
    }
    let mut metadata = METADATA;
    metadata[0].1 = "caz-aspects-2";
    assert!(read(&metadata, &TENSORS).contains("`caz-aspects-2`"));
    metadata = METADATA;
    metadata[5].1 = "[]";
    assert!(read(&metadata, &TENSORS).contains("prototype_words"));
    for left_out in 0..TENSORS.len() {
        let mut tensors = TENSORS.to_vec();
        tensors.remove(left_out);
        read(&METADATA, &tensors);
    }
    let mut tensors = TENSORS;
    tensors[0].2 = &[f32::NAN];
    assert!(read(&METADATA, &tensors).contains("`about.bias`"));
    tensors = TENSORS;
    tensors[1].1 = &[2, 1];
    assert!(read(&METADATA, &tensors).contains("`about.vectors`"));
    tensors = TENSORS;
    tensors[7].2 = &[0.25, 0.25, 0.0, 1.0];
    assert!(read(&METADATA, &tensors).contains("`ramps`"));
}

#[test]
fn heads_refuse_a_base_that_they_were_not_trained_on() {
    let rubric = Rubric::load(DEFAULT_RUBRIC).unwrap();
    let of = |tensors: &[(&str, &[usize], &[f32])]| {
        let heads = Heads::from_bytes(&file(&METADATA, tensors)).unwrap();
        AspectEmbedder::with_heads(Box::new(Counts), heads, &rubric).err().unwrap().to_string()
    };
    let mut tensors = TENSORS;
    // The same length, another direction: cosine 1 / √2.
    tensors[9].2 = &[1.0, 0.0];
    let message = of(&tensors);
    assert!(message.contains("counts (2 numbers), not of counts (2 numbers)"), "{message}");
    assert!(message.ends_with("one sentence is 0.71"), "{message}");

    let error = AspectEmbedder::new(Box::new(Counts), &rubric).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let message = error.to_string();
    assert!(message.contains("vectors of counts (2 numbers)"), "{message}");
    assert!(
        message.contains("static (128 numbers) and all-MiniLM-L6-v2 (384 numbers)"),
        "{message}"
    );
}

#[test]
fn bundled_heads_know_every_category_and_stay_small() {
    let rubric = Rubric::load(DEFAULT_RUBRIC).unwrap();
    for heads in Heads::bundled() {
        for category in rubric.categories() {
            let trained = heads.row(category).is_some();
            assert!(trained != heads.prototype(category).is_some(), "{category}");
        }
        assert_eq!(heads.trained().count(), 11);
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/aspects");
    let size = |name| std::fs::metadata(folder.join(name)).unwrap().len();
    let both = size("static.safetensors") + size("minilm.safetensors");
    assert!(both < 200_000, "{both} bytes");
}

#[test]
fn plain_praise_and_criticism_have_their_sign() {
    let embedder = aspects19();
    assert_eq!((embedder.name(), embedder.base()), ("aspects:aspects19", "static"));
    assert_eq!(embedder.kind(), VectorKind::Judgments);
    let value = |text: &str, category: &str| {
        let at = embedder.dimensions().unwrap().iter().position(|c| c == category).unwrap();
        rows(&embedder, &[text])[0][at]
    };
    let cases = [
        ("The paper is very well written.", "Clarity and Presentation", 1.0),
        ("The paper is hard to follow and has many typos.", "Clarity and Presentation", -1.0),
        ("The idea is novel and original.", "Novelty of Method", 1.0),
        ("The novelty is limited.", "Novelty of Method", -1.0),
        ("There is no comparison with previous methods.", "Comparison to Previous Studies", -1.0),
    ];
    for (text, category, sign) in cases {
        let found = value(text, category);
        assert!(found * sign > 0.1, "{text} {found}");
    }
    assert!(value("The paper is very well written.", "Novelty of Method").abs() < 0.05);
}

#[test]
fn a_rubric_of_ones_own_goes_by_its_definitions() {
    let own = rubric(
        "own",
        "min = -1\nmax = 1",
        &[
            ("Typography", "fonts, margins, spelling errors"),
            ("Humour", "jokes that readers enjoy"),
        ],
    );
    let embedder = AspectEmbedder::new(Box::new(StaticModel::bundled()), &own).unwrap();
    assert_eq!(embedder.by_prototype().collect::<Vec<_>>(), ["Typography", "Humour"]);
    let found = rows(&embedder, &["There are many spelling errors and typos in the margins."]);
    assert!(found[0][0] < 0.0, "{found:?}");
    assert!(found[0][1].abs() < 1e-300, "nobody speaks of jokes: {found:?}");
}

#[test]
fn rubrics_that_say_nothing_are_refused() {
    let refused = |rubric: &Rubric| {
        let base = Box::new(StaticModel::bundled());
        AspectEmbedder::new(base, rubric).err().unwrap().to_string()
    };
    let one_sided = rubric("grades", "min = 0\nmax = 1", &[("Clarity", "is it clear?")]);
    assert!(refused(&one_sided).contains("`grades`"));
    let wordless = rubric("x", "values = [-1, 0, 1]", &[("42", "?!")]);
    assert!(refused(&wordless).contains("`42`"));
}
