//! Answers that come bit by bit, from servers that do it well, badly, or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use caz::for_tests::{LongerModel, OpenAiModel, OpenAiSettings, RecordingModel};
use caz::{ChatAnswer, ChatError, ChatModel, FinishReason};
use serde_json::{Value, json};

use crate::command_line::Desk;
use crate::server::{Asked, Piece, Reply, Server, completion};
use crate::transport::{json_request, model, request, settings};

/// A server that replies to each request with the next of these streams, then with "done".
fn streams(streams: Vec<Vec<Piece>>) -> Server {
    Server::start(move |asked| match streams.get(asked.index) {
        Some(stream) => Reply::Stream(stream.clone()),
        None => Reply::Chat("done".into()),
    })
}

fn is_stream(asked: &Asked) -> bool {
    asked.body["stream"] == json!(true)
}

fn whole() -> Vec<Piece> {
    vec![Piece::delta("hi"), Piece::finish("stop"), Piece::usage(), Piece::done()]
}

fn quiet(server: &Server, milliseconds: u64, tries: u32) -> OpenAiModel {
    let mut settings = settings(&server.url());
    settings.silence = Duration::from_millis(milliseconds);
    settings.retry.tries = tries;
    OpenAiModel::new(settings).unwrap()
}

#[test]
fn a_stream_is_asked_for_with_what_it_costs_and_put_together() {
    let server = Server::start(|_| Reply::Chat("Zo\u{eb} \u{8bc4}\u{5ba1} \u{1f52c}".into()));
    let answer = model(&server).complete(&request("x")).unwrap();
    assert_eq!(answer.text, "Zo\u{eb} \u{8bc4}\u{5ba1} \u{1f52c}");
    assert_eq!((answer.finish, answer.usage.total()), (FinishReason::Stop, 15));
    let body = &server.asked()[0].body;
    assert_eq!(body["stream"], json!(true));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn streamed_and_whole_answers_are_recorded_as_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, stream: bool| -> (ChatAnswer, String) {
        let server = Server::start(|_| Reply::Chat("an \"answer\"\n of two lines".into()));
        let path = folder.path().join(name);
        let settings = OpenAiSettings { stream, ..settings(&server.url()) };
        let model = Arc::new(OpenAiModel::new(settings).unwrap());
        let recorded = RecordingModel::new(model, &path).unwrap();
        let answer = recorded.complete(&json_request()).unwrap();
        assert_eq!(is_stream(&server.asked()[0]), stream);
        (answer, std::fs::read_to_string(&path).unwrap())
    };
    assert_eq!(record("streamed.jsonl", true), record("whole.jsonl", false));
}

#[test]
fn what_was_not_asked_for_is_read_too() {
    // Whole although a stream was asked for.
    let server = Server::start(|_| Reply::Whole("hi".into()));
    assert_eq!(model(&server).complete(&request("x")).unwrap().text, "hi");
    assert!(model(&server).concessions().is_empty());
    // A stream although none was asked for.
    let server = streams(vec![whole()]);
    let settings = OpenAiSettings { stream: false, ..settings(&server.url()) };
    let answer = OpenAiModel::new(settings).unwrap().complete(&request("x")).unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.total()), ("hi", 15));
    assert!(!is_stream(&server.asked()[0]));
}

#[test]
fn an_answer_may_take_longer_than_a_silence_may() {
    let pause = || Piece::Pause(Duration::from_millis(120));
    let mut slow: Vec<Piece> = (0..6).flat_map(|_| [Piece::delta("a"), pause()]).collect();
    // Comments are signs of life, too.
    slow.extend((0..4).flat_map(|_| [Piece::text(": processing\n\n"), pause()]));
    slow.extend([Piece::finish("stop"), Piece::done()]);
    let server = streams(vec![slow]);
    let start = Instant::now();
    let answer = quiet(&server, 400, 1).complete(&request("x")).unwrap();
    assert_eq!(answer.text, "aaaaaa");
    assert!(start.elapsed() > Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(server.count(), 1);
}

#[test]
fn a_silence_in_the_middle_is_a_timeout_and_the_item_is_sent_again() {
    let stuck = vec![Piece::delta("a"), Piece::Pause(Duration::from_secs(5)), Piece::done()];
    let server = streams(vec![stuck.clone()]);
    let start = Instant::now();
    assert_eq!(quiet(&server, 300, 2).complete(&request("x")).unwrap().text, "done");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(server.count(), 2);
    let server = streams(vec![stuck.clone(), stuck]);
    let error = quiet(&server, 300, 2).complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::Timeout { tries: 2, .. }), "{error}");
}

#[test]
fn a_stream_that_breaks_is_sent_again_and_nothing_else_is() {
    let half_an_event = Piece::text("data: {\"choices\": [{\"del");
    let broken: [Vec<Piece>; 5] = [
        vec![Piece::delta("half"), Piece::Break],
        vec![Piece::delta("half"), half_an_event.clone(), Piece::Break],
        // The end of the reply, and not of the answer.
        vec![Piece::delta("half")],
        vec![Piece::delta("half"), half_an_event],
        vec![Piece::text(": nothing yet\n\n")],
    ];
    for stream in broken {
        let words = format!("{stream:?}");
        let server = streams(vec![whole(), stream]);
        let model = model(&server);
        assert_eq!(model.complete(&request("a")).unwrap().text, "hi");
        assert_eq!(model.complete(&request("b")).unwrap().text, "done", "{words}");
        let asked = server.asked();
        let asked: Vec<&str> = asked.iter().map(Asked::last_message).collect();
        assert_eq!(asked, ["a", "b", "b"], "{words}");
    }
    let server = Server::start(|_| Reply::Stream(vec![Piece::delta("half"), Piece::Break]));
    let error = model(&server).complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::BrokenAnswer { tries: 5, .. }), "{error}");
}

#[test]
fn ways_to_write_a_stream_do_not_matter() {
    let text = "Zo\u{eb} \u{8bc4}";
    let event = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let done = "data: [DONE]\n\n";
    let all = format!(": hello\n\nevent: message\nid: 1\nretry: 10\n{event}{stop}{done}");
    let bytes = |text: &str, size: usize| -> Vec<Piece> {
        text.as_bytes().chunks(size).map(|chunk| Piece::Bytes(chunk.to_vec())).collect()
    };
    let streams_of = [
        ("at once", bytes(&all, all.len())),
        ("byte by byte, within characters", bytes(&all, 1)),
        ("lines end in CR LF", bytes(&all.replace('\n', "\r\n"), 7)),
        ("without the last event", bytes(&format!("{event}{stop}"), 50)),
        ("without the last empty line", bytes(format!("{event}{stop}").trim_end(), 50)),
        ("without a reason to finish", bytes(&format!("{event}{done}"), 50)),
        ("with a mark of byte order", bytes(&format!("\u{feff}{all}"), 3)),
        (
            "broken behind the end",
            [bytes(&format!("{event}{stop}"), 50), vec![Piece::Break]].concat(),
        ),
        (
            "open behind the end",
            [bytes(&all, 50), vec![Piece::Pause(Duration::from_secs(30))]].concat(),
        ),
    ];
    for (name, stream) in streams_of {
        let server = streams(vec![stream]);
        let start = Instant::now();
        assert_eq!(model(&server).complete(&request("x")).unwrap().text, text, "{name}");
        assert_eq!(server.count(), 1, "{name}");
        assert!(start.elapsed() < Duration::from_secs(15), "{name}");
    }
}

#[test]
fn a_failure_in_the_middle_is_treated_as_its_status_says() {
    let failure = |code: u16, message: &str| {
        let error = json!({"error": {"message": message, "code": code}});
        vec![Piece::delta("a"), Piece::event(&error)]
    };
    // One that may go away.
    let server = streams(vec![whole(), failure(503, "busy")]);
    let first = model(&server);
    first.complete(&request("a")).unwrap();
    assert_eq!(first.complete(&request("b")).unwrap().text, "done");
    assert_eq!(server.count(), 3);
    // One that does not.
    let server = streams(vec![whole(), failure(400, "the context length is 10")]);
    let second = model(&server);
    second.complete(&request("a")).unwrap();
    let error = second.complete(&request("b")).unwrap_err();
    assert!(matches!(error, ChatError::Status { status: 400, tries: 1, .. }), "{error}");
    assert!(error.to_string().contains("the context length is 10"), "{error}");
}

#[test]
fn a_server_that_refuses_streams_is_asked_for_whole_answers_once_and_for_all() {
    let refusals = [
        (400, "Unsupported value: 'stream' does not support true with this model."),
        (400, "no"),
        (403, "your organization must be verified to stream this model"),
        (404, "streaming is not there"),
        (415, "no"),
        (422, "no"),
        (500, "streaming is not implemented"),
        (501, "no"),
    ];
    for (status, message) in refusals {
        let server = Server::start(move |asked| {
            if !is_stream(asked) {
                return Reply::Chat("whole".into());
            }
            Reply::Status(status, vec![], json!({"error": {"message": message}}).to_string())
        });
        let model = model(&server);
        for _ in 0..3 {
            assert_eq!(model.complete(&request("x")).unwrap().text, "whole");
        }
        let asked: Vec<bool> = server.asked().iter().map(is_stream).collect();
        assert_eq!(asked, [true, false, false, false], "{status} {message}");
        assert_eq!(model.concessions().len(), 1, "{status} {message}");
    }
}

#[test]
fn refusing_streams_without_a_reason_takes_no_form_away() {
    let server =
        Server::start(
            |asked| {
                if is_stream(asked) { Reply::status(400) } else { Reply::Chat("{}".into()) }
            },
        );
    let model = model(&server);
    for _ in 0..2 {
        model.complete(&json_request()).unwrap();
    }
    let formats = |asked: &Asked| {
        let form = asked.body["response_format"]["type"].as_str().unwrap_or("text").to_owned();
        (form, is_stream(asked))
    };
    let asked: Vec<(String, bool)> = server.asked().iter().map(formats).collect();
    let expected = [
        ("json_schema", true),
        ("json_object", true),
        ("text", true),
        ("text", false),
        ("json_schema", false),
    ];
    assert_eq!(asked, expected.map(|(form, stream)| (form.to_owned(), stream)));
    assert_eq!(model.concessions().len(), 1, "{:?}", model.concessions());
}

#[test]
fn one_failure_without_a_reason_does_not_take_streams_away() {
    let server = Server::start(|asked| match asked.index {
        0 => Reply::status(500),
        _ => Reply::Chat("done".into()),
    });
    let model = model(&server);
    model.complete(&request("x")).unwrap();
    model.complete(&request("x")).unwrap();
    let asked: Vec<bool> = server.asked().iter().map(is_stream).collect();
    assert_eq!(asked, [true, false, true]);
    assert!(model.concessions().is_empty());
}

#[test]
fn the_wish_to_know_the_cost_is_given_up_alone() {
    let server = Server::start(|asked| {
        if asked.body.get("stream_options").is_some() {
            let message = "Unrecognized request argument supplied: stream_options";
            return Reply::Status(400, vec![], json!({"error": {"message": message}}).to_string());
        }
        Reply::Chat("hello".into())
    });
    let model = model(&server);
    let answer = model.complete(&request("x")).unwrap();
    assert!(answer.usage.estimated);
    model.complete(&request("x")).unwrap();
    assert_eq!(server.count(), 3);
    assert!(server.asked().iter().all(is_stream));
    assert!(model.concessions().is_empty());
}

#[test]
fn neither_text_nor_lines_without_an_end_fill_the_memory() {
    let text = "x".repeat(1 << 20);
    let server = Server::start(move |_| {
        let mut stream = vec![Piece::delta(&text); 18];
        stream.push(Piece::done());
        Reply::Stream(stream)
    });
    let error = model(&server).complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::TooLarge { limit: 16_777_216, .. }), "{error}");
    assert_eq!(server.count(), 1);
    let line = Piece::Bytes(vec![b'x'; 1 << 20]);
    let server = Server::start(move |_| {
        let mut stream = vec![Piece::text("data: ")];
        stream.extend(vec![line.clone(); 18]);
        Reply::Stream(stream)
    });
    let error = model(&server).complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::TooLarge { .. }), "{error}");
}

#[test]
fn a_whole_completion_that_fails_to_come_as_a_stream_costs_one_try() {
    // Bytes of a completion that was meant whole, cut off: told from a stream by its start.
    let half = completion("half", "stop").into_bytes()[..30].to_vec();
    let server = Server::start(move |asked| match asked.index {
        0 => Reply::Body(half.clone()),
        _ => Reply::Chat("done".into()),
    });
    assert_eq!(model(&server).complete(&request("x")).unwrap().text, "done");
    assert_eq!(server.count(), 2);
}

#[test]
fn the_cut_off_answer_of_a_stream_is_asked_for_with_twice_the_tokens() {
    let cut = vec![Piece::delta("cut"), Piece::finish("length"), Piece::usage(), Piece::done()];
    let server = streams(vec![cut]);
    let longer = LongerModel::new(Arc::new(model(&server)));
    let answer = longer.complete(&request("x")).unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.total()), ("done", 30));
    let limits: Vec<Value> =
        server.asked().iter().map(|asked| asked.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [json!(100), json!(200)]);
}

#[test]
fn whole_answers_can_be_wished_for_on_the_command_line() {
    let desk = Desk::new();
    desk.write("items.csv", "task,text\na,clear\n");
    for (more, stream) in [(&[][..], true), (&["--server", "no-stream"][..], false)] {
        let server = Server::start(|_| Reply::Chat("{\"toxic\": \"yes\"}".into()));
        let url = server.url();
        let arguments = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity"];
        let asked =
            ["--question", "toxic", "--model", "m", "--server", "no-cache", "--base-url", &url];
        desk.caz(&[&arguments[..], &asked, more].concat());
        assert!(server.count() > 0);
        assert!(server.asked().iter().all(|asked| is_stream(asked) == stream));
    }
}
