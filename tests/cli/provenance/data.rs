//! Files for every command, and a server that answers everything.

use serde_json::{Map, Value, json};

use crate::Folder;
use crate::server::{Asked, Reply};

/// Stands for the flags of a model on the server of a test.
pub(super) const MODEL: &str = "MODEL";

/// What [`MODEL`] stands for.
pub(super) fn model_flags(url: &str) -> Vec<&str> {
    vec!["--base-url", url, "--model", "m", "--server", "no-cache"]
}

/// Small files for every command.
pub(super) fn folder() -> Folder {
    let folder = Folder::new();
    crate::simulate::crowd(&folder);
    folder.write("scoring.csv", "label,peer_label,value\na,a,1\n");
    folder.write("truth.csv", "task,truth\nq0,a\n");
    let (mut given, mut gold, mut topics, mut lengths) = (
        String::from("task,source,prompt,label,topic\n"),
        String::from("task,worker,label\n"),
        String::from("task,cluster\n"),
        String::from("task,length\n"),
    );
    for task in 0..12 {
        for (source, shift) in [("a", 0), ("b", 1)] {
            let label = (task + shift * (task / 3)) % 3;
            given.push_str(&format!("q{task},{source},D,{label},t{}\n", task % 4));
        }
        for (worker, label) in [("x", task % 3), ("y", task % 3), ("z", (task / 2) % 3)] {
            gold.push_str(&format!("q{task},{worker},{label}\n"));
        }
        topics.push_str(&format!("q{task},t{}\n", task % 4));
        lengths.push_str(&format!("q{task},{}\n", 10 + task));
    }
    folder.write("given.csv", given);
    folder.write("gold.csv", gold);
    folder.write("topics.csv", topics);
    folder.write("lengths.csv", lengths);
    folder.write("runs.csv", "year,run,people,llm\n1,r1,3,2\n1,r2,2,3\n1,r3,1,1\n");
    let (mut reviews, mut llm) = (String::new(), String::new());
    for paper in 0..12 {
        for person in 0..4 {
            let text = format!("Method {paper} is sound. The proof of lemma {person} is long.");
            let reviewer = format!("{paper}-{person}");
            reviews += &line(&[("paper", &paper.to_string()), ("reviewer", &reviewer)], &text);
        }
        for source in ["a", "b"] {
            let text = format!("Paper {paper} is well written. Source {source} likes it a lot.");
            llm += &line(&[("paper", &paper.to_string()), ("source", source)], &text);
        }
    }
    folder.write("few.jsonl", reviews.lines().next().unwrap());
    // Two papers: a judge asks 19 questions about every text.
    let of_two = |lines: &str, of_paper: usize| -> String {
        lines.split_inclusive('\n').take(2 * of_paper).collect()
    };
    folder.write("two-papers.jsonl", of_two(&reviews, 4));
    folder.write("two-papers-llm.jsonl", of_two(&llm, 2));
    folder.write("reviews.jsonl", reviews);
    folder.write("llm.jsonl", llm);
    let rubric = caz::for_tests::Rubric::load("aspects19").unwrap();
    let judgments: Map<String, Value> =
        rubric.categories().map(|name| (name.to_owned(), json!(0))).collect();
    let known = json!({"paper": "0", "reviewer": "0-0", "judgments": judgments});
    folder.write("known.jsonl", known.to_string());
    for (name, of_venue) in
        [("venue.jsonl", "reviews.jsonl"), ("venue-llm.jsonl", "llm-reviews.jsonl")]
    {
        let path = crate::sample(&format!("venue/{of_venue}"));
        folder.write(name, std::fs::read(path).unwrap());
    }
    let personas = "description = \"Two\"\n\n[[personas]]\nname = \"x\"\nwho = \"You are x.\"\n\n\
                    [[personas]]\nname = \"y\"\nwho = \"You are y.\"\n";
    folder.write("two.toml", personas);
    let debate = concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/debate-judge.toml");
    folder.write("debate-judge.toml", std::fs::read(debate).unwrap());
    folder.write("answers.jsonl", "{\"item\":\"1\",\"a\":\"left\",\"b\":\"right\"}\n");
    folder.write("verdicts.csv", "item,judge,winner\n1,j,a\n1,k,b\n2,j,b\n2,k,b\n");
    folder.write("pairs.csv", "item,gold\n1,a\n2,b\n");
    folder.write("feedback.csv", "provider,feedback,item,success\n,,1,0\nx,binary,1,1\n");
    let pages = "task,query,document\nq0,lemmas,A lemma.\nq1,lemmas,No lemma.\n";
    folder.write("pages.csv", pages);
    let twin = concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/label-relevance.toml");
    folder.write("twin.toml", std::fs::read(twin).unwrap());
    let own = "kind = \"labels\"\ndescription = \"d\"\nmax_tokens = 9\n\n[variables.document]\n\
        description = \"the page\"\n\n[[fields]]\nname = \"grade\"\nvalues = [0, 1, 2]\n\n[messages]\n\
        system = \"{{ fence_note }}\"\nuser = \"{{ document }} {{ answer_format }}\"\n";
    folder.write("own.toml", own);
    folder.write("items.csv", "task,text,response_a,response_b\n1,one,left,right\n");
    folder.write("papers.csv", "paper,title,text\n1,On lemmas,A lemma is shown.\n");
    let matrix = "[[0.75, 0.25], [0.25, 0.75]]";
    folder.write("confusion.json", format!("{{\"human\": {matrix}, \"llm\": {matrix}}}"));
    folder.write("task.toml", "question = \"Is it?\"\nlabels = [\"yes\", \"no\"]\n");
    folder
}

fn line(names: &[(&str, &str)], text: &str) -> String {
    let mut object = Map::new();
    for (key, value) in names.iter().copied().chain([("text", text)]) {
        object.insert(key.to_owned(), value.into());
    }
    Value::Object(object).to_string() + "\n"
}

/// Answers by the first value that the schema allows for every field; without a schema by a text
/// that is a review and agrees.
pub(super) fn obliging(asked: &Asked) -> Reply {
    if asked.body["logprobs"] == json!(true) {
        let place = json!({"top_logprobs": [{"token": "none", "logprob": -0.5}]});
        let choice = json!({"message": {"content": "none"}, "logprobs": {"content": [place]}});
        return Reply::Body(json!({"choices": [choice]}).to_string().into_bytes());
    }
    let schema = &asked.body["response_format"]["json_schema"]["schema"];
    let Some(fields) = schema["properties"].as_object() else {
        return Reply::Chat(REVIEW.into());
    };
    let answer: Map<String, Value> =
        fields.iter().map(|(name, field)| (name.clone(), first(field))).collect();
    Reply::Chat(Value::Object(answer).to_string())
}

fn first(field: &Value) -> Value {
    match (&field["enum"], &field["minimum"]) {
        (Value::Array(values), _) => values[0].clone(),
        (_, Value::Null) => json!("x"),
        (_, minimum) => minimum.clone(),
    }
}

const REVIEW: &str = "Agree: this work shows one small fact with care and says plainly where it does not \
    hold. What I miss are experiments at another scale, numbers for the time that every step takes, and \
    a word on how much the choice of the constant matters in practice. The writing is clear, the figures \
    less so; I lean towards acceptance if the authors add these points.";
