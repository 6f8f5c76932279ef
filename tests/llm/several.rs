//! Several servers of one model: the work is shared, and one that dies is done without.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use caz::for_tests::{Next, OpenAiModel, OpenAiSettings, Outcome, never, run_all};
use caz::{ChatError, ChatModel};
use serde_json::Value;

use crate::command_line::Desk;
use crate::server::{Asked, Piece, Reply, Server, nobody};
use crate::transport::{request, settings};

fn echo(asked: &Asked) -> Reply {
    let text = format!("answer to {}", asked.last_message());
    Reply::Slow(Duration::from_millis(5), Box::new(Reply::Chat(text)))
}

fn model(servers: &[&Server]) -> OpenAiModel {
    let base_urls = servers.iter().map(|server| server.url()).collect();
    OpenAiModel::new(OpenAiSettings { base_urls, ..settings("http://replaced/v1") }).unwrap()
}

/// Asks for `items` answers, eight at a time; all must come.
fn ask_all(model: &OpenAiModel, items: usize) {
    let work = |index: usize| model.complete(&request(&index.to_string()));
    let outcomes = run_all(items, 8, &never, work, |_| Next::GoOn);
    for (index, outcome) in outcomes.iter().enumerate() {
        let Outcome::Done(answer) = outcome else { panic!("{index}: {outcome:?}") };
        assert_eq!(answer.text, format!("answer to {index}"));
    }
}

/// How many replies the servers have counted. A reply is read before it is counted: so many are waited for.
fn answered(servers: &[&Server], wanted: usize) -> usize {
    let answered = || servers.iter().map(|server| server.answered()).sum::<usize>();
    let start = Instant::now();
    while answered() < wanted && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(2));
    }
    answered()
}

#[test]
fn the_work_is_shared_evenly() {
    let servers = [Server::start(echo), Server::start(echo), Server::start(echo)];
    ask_all(&model(&servers.each_ref()), 120);
    for server in &servers {
        assert!((30..=50).contains(&server.count()), "{}", server.count());
    }
}

#[test]
fn a_server_that_is_killed_in_the_middle_costs_no_answer() {
    let servers = [Server::start(echo), Server::start(echo), Server::start(echo)];
    let model = model(&servers.each_ref());
    std::thread::scope(|scope| {
        scope.spawn(|| ask_all(&model, 300));
        while servers[1].answered() < 20 {
            std::thread::sleep(Duration::from_millis(2));
        }
        servers[1].kill();
    });
    let answered = answered(&servers.each_ref(), 300);
    // What was under way at the dead one was asked again elsewhere, and nothing else was.
    assert!((300..=300 + 8).contains(&answered), "{answered}");
    assert!(servers[1].answered() < 150, "{}", servers[1].answered());
}

#[test]
fn one_that_breaks_its_streams_is_left_alone_for_a_while() {
    let broken = Server::start(|_| Reply::Stream(vec![Piece::delta("half"), Piece::Break]));
    let good = Server::start(echo);
    let start = Instant::now();
    ask_all(&model(&[&broken, &good]), 60);
    assert_eq!(answered(&[&good], 60), 60);
    // Tried by what was under way together at first, and again after a rest.
    let rests = 1 + usize::try_from(start.elapsed().as_secs() / 5).unwrap();
    assert!(broken.count() <= 8 * rests, "{}", broken.count());
}

#[test]
fn one_that_asks_to_wait_is_not_waited_for() {
    let wait = || Reply::Status(429, vec![("Retry-After", "3600".into())], String::new());
    let busy = Server::start(move |_| wait());
    let good = Server::start(echo);
    ask_all(&model(&[&busy, &good]), 40);
    assert!(busy.count() <= 8, "{}", busy.count());
    // With nobody else it is a wait that is too long.
    let error = model(&[&busy]).complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::LongWait { seconds: 3600, .. }), "{error}");
}

#[test]
fn where_all_are_dead_all_are_named() {
    let dead = Server::start(echo);
    dead.kill();
    let base_urls = vec![nobody(), dead.url()];
    let settings = OpenAiSettings { base_urls, ..settings("http://replaced/v1") };
    let error = OpenAiModel::new(settings).unwrap().complete(&request("x")).unwrap_err();
    assert!(matches!(error, ChatError::Connection { tries: 5, .. }), "{error}");
    let words = format!("127.0.0.1:1, {}", dead.address());
    assert!(error.to_string().contains(&words), "{error}");
}

/// A server that labels every item alike.
fn labels() -> Server {
    let answer = "{\"hateful\": \"no\", \"offensive\": \"no\", \"toxic\": \"yes\"}";
    Server::start(move |_| {
        Reply::Slow(Duration::from_millis(3), Box::new(Reply::Chat(answer.into())))
    })
}

#[test]
fn the_command_line_takes_several_addresses_survives_and_asks_nothing_twice() {
    const ITEMS: usize = 150;
    let desk = Desk::new();
    let rows: String = (1..=ITEMS).map(|n| format!("{n},item {n}\n")).collect();
    desk.write("items.csv", &format!("task,text\n{rows}"));
    let servers = [labels(), labels(), labels()];
    let urls: Vec<String> = servers.iter().map(Server::url).collect();
    let run = |addresses: &[&str], summary: &str| {
        let arguments = ["annotate", "labels", "items.csv", "--prompt", "label-toxicity"];
        let more = ["--question", "toxic", "--model", "m", "--summary", summary];
        desk.done(&[&arguments[..], &more, addresses].concat())
    };
    let killed = Arc::new(AtomicUsize::new(0));
    let listed = urls.join(",");
    let first = std::thread::scope(|scope| {
        let stopped = Arc::clone(&killed);
        let victim = &servers[2];
        scope.spawn(move || {
            let start = Instant::now();
            while victim.answered() < 10 && start.elapsed() < Duration::from_secs(30) {
                std::thread::sleep(Duration::from_millis(1));
            }
            victim.kill();
            stopped.store(victim.answered(), Ordering::SeqCst);
        });
        run(&["--base-url", &listed], "first.json")
    });
    assert!(killed.load(Ordering::SeqCst) >= 10);
    assert_eq!(first.stdout.lines().count(), ITEMS + 1);
    assert!(servers.iter().all(|server| server.count() > 5));
    let summary: Value = serde_json::from_str(&desk.read("first.json")).unwrap();
    assert_eq!(summary["settings"]["place"], Value::from(urls.join(", ")));
    // Named one by one, in another order and with the dead one: the answers are there.
    let before: usize = servers.iter().map(Server::count).sum();
    let again = ["--base-url", &urls[2], "--base-url", &urls[0], "--base-url", &urls[1]];
    assert_eq!(run(&again, "second.json").stdout, first.stdout);
    assert_eq!(servers.iter().map(Server::count).sum::<usize>(), before);
}
