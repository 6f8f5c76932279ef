//! What a run writes: never over what it reads, with the permissions there were, through what is
//! no file; and what it says, whatever stands in the way.

use std::fs;
use std::process::{Command, Stdio};

use super::{Folder, sample};

const REVIEWS: &str = "paper,reviewer,text\np,a,first words here\np,b,second words there\n";
const Z: &str = "paper,text\np,third words\n";
const LABELS: &str = "task,worker,label\nq,a,x\nq,b,x\nr,a,y\nr,b,x\n";
const Z_LABELS: &str = "task,label\nq,x\nr,y\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("r.csv", REVIEWS);
    folder.write("z.csv", Z);
    folder.write("l.csv", LABELS);
    folder.write("zl.csv", Z_LABELS);
    folder
}

#[test]
fn no_output_is_an_input_whatever_it_is_called() {
    let folder = folder();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("r.csv", folder.path("link.csv")).unwrap();
        fs::hard_link(folder.path("r.csv"), folder.path("same.csv")).unwrap();
    }
    fs::create_dir(folder.path("sub")).unwrap();
    fs::copy(folder.path("r.csv"), folder.path("page.html")).unwrap();
    let reviews = ["reviews", "r.csv", "--z", "z.csv"];
    let mut outputs = vec!["r.csv", "./r.csv", "sub/../r.csv", "z.csv"];
    if cfg!(unix) {
        outputs.extend(["link.csv", "same.csv"]);
    }
    for output in outputs {
        let arguments = [&reviews[..], &["--output", output]].concat();
        folder.caz(&arguments).failed(2, &["which the command reads"]);
    }
    let page = ["reviews", "page.html", "--z", "z.csv", "--report", "page.html"];
    folder.caz(&page).failed(2, &["--report would write over `page.html`"]);
    let twice = ["labels", "l.csv", "--z", "zl.csv", "-o", "new.csv", "--consensus", "./new.csv"];
    folder.caz(&twice).failed(2, &["name the same file"]);
    assert_eq!(fs::read_to_string(folder.path("r.csv")).unwrap(), REVIEWS);
    assert_eq!(fs::read_to_string(folder.path("z.csv")).unwrap(), Z);
    assert!(!folder.path("new.csv").exists());
    // Another file of the same content is another file.
    fs::copy(folder.path("r.csv"), folder.path("copy.csv")).unwrap();
    folder.caz(&[&reviews[..], &["--output", "copy.csv"]].concat()).succeeded();
}

#[test]
fn no_output_is_part_of_a_model_or_of_the_cache() {
    let folder = folder();
    let model = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/bert");
    for part in ["", "1_Pooling"] {
        let copy = folder.path("bert").join(part);
        fs::create_dir(&copy).unwrap();
        let entries = fs::read_dir(model.join(part)).unwrap().map(|entry| entry.unwrap().path());
        for path in entries.filter(|path| path.is_file()) {
            fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
    }
    let names = ["config.json", "tokenizer.json"];
    let content = |name: &str| fs::read(folder.path("bert").join(name)).unwrap();
    let all = names.map(content);
    let embed = ["embed", "r.csv", "--embedder", "bert:bert", "--output"];
    for output in ["bert/config.json", "./bert/../bert/tokenizer.json", "bert/1.safetensors"] {
        folder
            .caz(&[&embed[..], &[output]].concat())
            .failed(2, &["a folder that the command reads"]);
    }
    assert!(all == names.map(content));
    assert!(!folder.path("bert/1.safetensors").exists());
    // A result beside them is none of them.
    folder.caz(&[&embed[..], &["bert/vectors.jsonl"]].concat()).succeeded();
    fs::create_dir(folder.path("cache")).unwrap();
    fs::write(folder.path("cache/answers.sqlite"), "kept").unwrap();
    for output in ["cache/answers.sqlite", "cache/answers.sqlite-wal"] {
        let run = Command::new(assert_cmd::cargo::cargo_bin!("caz"))
            .current_dir(folder.path(""))
            .env("CAZ_CACHE_DIR", folder.path("cache"))
            .args(["labels", "l.csv", "--z", "zl.csv", "--output", output])
            .output()
            .unwrap();
        let says = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{says}");
        assert!(says.contains("answers of language models"), "{says}");
    }
    assert_eq!(fs::read_to_string(folder.path("cache/answers.sqlite")).unwrap(), "kept");
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_that_an_output_is_part_of_a_model_or_of_a_folder_of_tables() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    let model = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny/bert");
    // As the hub's own tools lay out what they downloaded.
    let repository = "hub/models--o--m";
    let snapshot = folder.path(repository).join("snapshots/abc");
    for made in [&snapshot, &folder.path(repository).join("blobs"), &folder.path("labels")] {
        fs::create_dir_all(made).unwrap();
    }
    let blob = folder.path(repository).join("blobs/1");
    fs::copy(model.join("config.json"), &blob).unwrap();
    symlink("../../blobs/1", snapshot.join("config.json")).unwrap();
    let config = fs::read(&blob).unwrap();
    let embed = ["embed", "r.csv", "--embedder", "bert:hub/models--o--m/snapshots/abc", "--output"];
    for output in ["snapshots/abc/config.json", "blobs/1"] {
        let output = format!("{repository}/{output}");
        folder
            .caz(&[&embed[..], &[&output]].concat())
            .failed(2, &["a folder that the command reads"]);
        // Whatever model is named, the cache of the hub is no place for results.
        let run = Command::new(assert_cmd::cargo::cargo_bin!("caz"))
            .current_dir(folder.path(""))
            .env("HF_HUB_CACHE", folder.path("hub"))
            .args(["labels", "l.csv", "--z", "zl.csv", "--output", &output])
            .output()
            .unwrap();
        let says = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{says}");
        assert!(says.contains("into the models of"), "{says}");
    }
    assert_eq!(fs::read(&blob).unwrap(), config);
    fs::copy(folder.path("l.csv"), folder.path("part.csv")).unwrap();
    symlink("../part.csv", folder.path("labels/part.csv")).unwrap();
    symlink("labels/new.csv", folder.path("dangling.csv")).unwrap();
    for output in ["labels/part.csv", "dangling.csv"] {
        folder
            .caz(&["labels", "labels", "--z", "zl.csv", "--output", output])
            .failed(2, &["a folder that the command reads", output]);
    }
}

#[cfg(unix)]
#[test]
fn scores_of_reviewers_are_for_their_owner_unless_the_file_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    let arguments = ["reviews", "r.csv", "--z", "z.csv", "-o", "s.csv", "--report", "s.html"];
    folder.caz(&arguments).succeeded();
    assert_eq!((mode("s.csv"), mode("s.html")), (0o600, 0o600));
    for kept in [0o644, 0o600] {
        for name in ["s.csv", "s.html"] {
            let permissions = fs::Permissions::from_mode(kept);
            fs::set_permissions(folder.path(name), permissions).unwrap();
        }
        folder.caz(&arguments).succeeded();
        assert_eq!((mode("s.csv"), mode("s.html")), (kept, kept));
    }
}

#[cfg(unix)]
#[test]
fn whatever_is_made_of_texts_and_people_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    folder.caz(&["labels", "l.csv", "--z", "zl.csv", "-o", "scores.csv"]).succeeded();
    folder
        .caz(&["simulate", "reviews", "r.csv", "--z", "z.csv", "--venue", "k=1", "-o", "made"])
        .succeeded();
    let made = fs::read_dir(folder.path("made")).unwrap();
    let made: Vec<String> =
        made.map(|f| format!("made/{}", f.unwrap().file_name().to_str().unwrap())).collect();
    assert!(!made.is_empty());
    for name in made.iter().map(String::as_str).chain(["scores.csv"]) {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn neither_a_figure_that_is_a_link_nor_a_shell_writes_over_an_input() {
    let folder = folder();
    fs::create_dir(folder.path("figures")).unwrap();
    std::os::unix::fs::symlink(folder.path("l.csv"), folder.path("figures/auc.svg")).unwrap();
    let before = fs::read(folder.path("l.csv")).unwrap();
    let detection = ["experiment", "detection", "l.csv", "--z", "zl.csv", "--figures", "figures"];
    folder.caz(&detection).failed(2, &["auc.svg", "l.csv"]);
    let onto = fs::OpenOptions::new().append(true).open(folder.path("l.csv")).unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_caz"))
        .current_dir(folder.path(""))
        .args(["labels", "l.csv", "--z", "zl.csv", "--format", "csv"])
        .stdout(onto)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert_eq!(fs::read(folder.path("l.csv")).unwrap(), before);
}

#[test]
fn counts_beyond_memory_are_refused_beforehand() {
    let folder = folder();
    folder
        .caz(&["assumptions", "l.csv", "--z", "zl.csv", "--bootstrap", "4294967295"])
        .failed(2, &["4294967295", "100000"]);
    folder
        .caz(&["simulate", "crowd", "--crowd", "workers=4294967296", "-o", "crowd"])
        .failed(2, &["4294967296 workers", "GB of memory"]);
}

#[cfg(target_os = "linux")]
#[test]
fn without_memory_a_run_ends_with_a_message_and_no_core() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_caz");
    // What is held at once (a gigabyte) is beyond the limit by itself: what an allocator asks for
    // in advance differs from run to run.
    let run = std::process::Command::new("sh")
        .current_dir(folder.path(""))
        .args([
            "-c",
            "ulimit -v 400000; exec \"$0\" simulate crowd --crowd workers=16000000 -o crowd",
            program,
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(101), "{said}");
    assert!(said.contains("there is no memory left"), "{said}");
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links_are_written_to_and_stay_what_they_are() {
    let folder = folder();
    let run = |output: &str| {
        folder
            .caz(&["labels", "l.csv", "--z", "zl.csv", "--format", "csv", "--output", output])
            .succeeded()
    };
    let expected = folder.caz(&["labels", "l.csv", "--z", "zl.csv", "--format", "csv"]).succeeded();
    run("/dev/null");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(run("/dev/stdout").stdout, expected.stdout);
    fs::write(folder.path("target.csv"), "old").unwrap();
    std::os::unix::fs::symlink("target.csv", folder.path("link.csv")).unwrap();
    run("link.csv");
    assert!(fs::symlink_metadata(folder.path("link.csv")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.path("target.csv")).unwrap(), expected.stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_full_standard_error_is_not() {
    let folder = folder();
    let run = |stdout: Stdio, stderr: Stdio, more: &[&str]| {
        Command::new(assert_cmd::cargo::cargo_bin!("caz"))
            .current_dir(folder.path(""))
            .env_clear()
            .args(["reviews", "r.csv", "--z", "z.csv", "--format", "csv"])
            .args(more)
            .stdout(stdout)
            .stderr(stderr)
            .output()
            .unwrap()
    };
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = run(full(), Stdio::piped(), &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("cannot write to standard output"), "{said}");
    let output = run(Stdio::piped(), full(), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"reviewer,"));
    let output = run(Stdio::piped(), full(), &["--min-papers", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn no_line_on_standard_error_steers_the_terminal() {
    let folder = folder();
    folder.write("bad.csv", "paper,\u{1b}[2Jname,text\np,a,x\n");
    folder.write("bad.toml", "\u{1b}]0;title\u{7} = [");
    for arguments in [
        vec!["reviews", "no\u{1b}[31msuch.csv", "--z", "z.csv"],
        vec!["reviews", "bad.csv", "--z", "z.csv"],
        vec!["reviews", "r.csv", "--z", "z.csv", "--explain", "\u{1b}[31mnobody"],
        vec!["reviews", "r.csv", "--z", "z.csv", "--score", "\u{1b}[31m"],
        vec!["\u{1b}[31m"],
        vec!["prompts", "show", "\u{9b}31m\u{202e}.toml"],
        vec!["annotate", "labels", "l.csv", "--prompt", "./bad.toml", "--model", "m"],
    ] {
        let run = folder.caz(&arguments);
        assert_ne!(run.code, 0, "{arguments:?}");
        let hostile = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!run.stderr.contains(hostile), "{arguments:?}: {:?}", run.stderr);
    }
}

#[test]
fn a_message_is_never_longer_than_a_page() {
    let folder = folder();
    let name = "x".repeat(5 << 20);
    folder.write("bad.csv", format!("paper,{name},text\np,a,x\n"));
    let run = folder.caz(&["reviews", "bad.csv", "--z", "z.csv"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.len() < 20_000, "{}", run.stderr.len());
}

#[test]
fn absurd_numbers_of_threads_are_refused() {
    for threads in ["0", "10000", "4000000000"] {
        let arguments = ["labels", &sample("labels.csv"), "--z", "z.csv", "--threads", threads];
        folder().caz(&arguments).failed(2, &["--threads must be"]);
    }
}

#[test]
fn a_negative_number_is_a_value_and_no_flag() {
    let labels = sample("labels.csv");
    let run = |flag: &str, value: &str| {
        let arguments = ["labels", &labels, "--mechanism", "oa", "--format", "csv", flag, value];
        folder().caz(&arguments)
    };
    run("--margin", "-1").succeeded();
    run("--fdr", "-1").failed(2, &["`fdr` is -1", "from 0 to 1"]);
    run("--min-tasks", "-1").failed(2, &["invalid value '-1' for '--min-tasks <N>'"]);
    run("--threads", "-1").failed(2, &["invalid value '-1' for '--threads <N>'"]);
    // What takes no number still says that there is no such flag.
    run("--quiet", "-1").failed(2, &["unexpected argument '-1'"]);
}

#[test]
fn labels_past_memory_are_of_another_program() {
    let (folder, labels) = (Folder::new(), sample("labels.csv"));
    for flag in ["--engine", "--print-sql"] {
        let run = folder.caz(&["labels", &labels, flag, "duckdb"]);
        run.failed(2, &["caz-sql score, caz-sql print"]);
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let (folder, labels) = (Folder::new(), sample("labels.csv"));
    let run = folder.caz(&["labels", &labels, "--mechanism", "ca", "-o", "scores.parquet"]);
    run.failed(2, &["writes no Parquet", "the feature `parquet`"]);
    assert!(!folder.path("scores.parquet").exists());
}
