//! Servers that speak TLS: whose certificates are believed, and what is said of the others.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use caz::for_tests::{OpenAiModel, OpenAiSettings, Trust};
use caz::{ChatError, ChatModel};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::command_line::Desk;
use crate::server::{Reply, Server};
use crate::transport::request;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// A server with one of the certificates of the tests.
fn server(name: &str) -> Server {
    let certificate = CertificateDer::from_pem_file(file(&format!("{name}.pem"))).unwrap();
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Server::start_tls(Arc::new(config), |_| Reply::Chat("safe".into()))
}

/// What comes of asking a server with one of the certificates, believing `authority`.
fn asked(name: &str, authority: Option<&str>, host: &str) -> Result<String, ChatError> {
    let server = server(name);
    let mut settings =
        OpenAiSettings::new(format!("https://{host}:{}/v1", server.address().port()), "m");
    settings.retry.tries = 1;
    if let Some(authority) = authority {
        settings.trust = Trust::from_file(&file(authority)).unwrap();
    }
    let answer = OpenAiModel::new(settings).unwrap().complete(&request("x"));
    assert_eq!(server.count(), usize::from(answer.is_ok()), "nothing is sent to a stranger");
    answer.map(|answer| answer.text)
}

#[test]
fn a_certificate_of_a_named_authority_is_believed_by_name_and_by_number() {
    for host in ["localhost", "127.0.0.1"] {
        assert_eq!(asked("right", Some("authority.pem"), host).unwrap(), "safe");
    }
    // One that signed itself is its own authority.
    assert_eq!(asked("self-signed", Some("self-signed.pem"), "localhost").unwrap(), "safe");
}

#[test]
fn others_are_not_and_it_is_said_why() {
    let cases = [
        ("right", None, "not signed by an authority that is believed here"),
        ("self-signed", None, "not signed by an authority that is believed here"),
        ("self-signed", Some("authority.pem"), "not signed by an authority that is believed here"),
        ("right", Some("self-signed.pem"), "not signed by an authority that is believed here"),
        ("expired", Some("authority.pem"), "has expired; renew it"),
        ("other-name", Some("authority.pem"), "for another name"),
        ("authority-as-server", Some("authority-as-server.pem"), "basicConstraints=CA:FALSE"),
    ];
    for (name, authority, words) in cases {
        let error = asked(name, authority, "localhost").unwrap_err();
        assert!(matches!(error, ChatError::NotTrusted { .. }), "{name} {authority:?}: {error:?}");
        assert!(error.to_string().contains(words), "{name} {authority:?}: {error}");
        assert!(error.stops_the_run(), "{name}: it would be the same for all");
    }
    let error = asked("other-name", Some("authority.pem"), "localhost").unwrap_err();
    assert!(error.to_string().contains("models.example"), "{error}");
}

#[test]
fn a_server_without_tls_is_said_to_have_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // What a greeting of TLS is to a server that expects a line of text.
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    let error = OpenAiModel::new(OpenAiSettings::new(url, "m")).unwrap();
    let error = error.complete(&request("x")).unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
}

#[test]
fn the_flag_names_the_authority_and_the_error_names_the_flag() {
    let desk = Desk::new();
    desk.write("papers.jsonl", "{\"paper\":\"p\",\"abstract\":\"A study.\"}\n");
    let server = server("right");
    let url = format!("https://localhost:{}/v1", server.address().port());
    let arguments = ["annotate", "reviews", "papers.jsonl", "--model", "m", "--base-url", &url];
    let stranger = desk.caz(&[&arguments[..], &["--output", "z.jsonl"]].concat());
    assert_eq!(stranger.code, Some(5), "{}", stranger.stderr);
    assert!(stranger.stderr.contains("with --ca FILE"), "{}", stranger.stderr);
    assert_eq!(server.count(), 0);
    let authority = file("authority.pem").display().to_string();
    // Three words are no review, but they arrived.
    let friend = desk.caz(&[&arguments[..], &["--ca", &authority]].concat());
    assert_eq!(friend.code, Some(1), "{}", friend.stderr);
    assert!(friend.stderr.contains("too_short"), "{}", friend.stderr);

    let doctor = desk.done(&["doctor", "--ca", &authority, "--format", "csv"]);
    assert!(doctor.stdout.contains("1 certificates in"), "{}", doctor.stdout);
    let doctor = desk.done(&["doctor", "--format", "csv"]);
    assert!(doctor.stdout.contains("that browsers believe"), "{}", doctor.stdout);
    for (bad, code) in [("missing.pem", 4), ("papers.jsonl", 3)] {
        let run = desk.caz(&[&arguments[..], &["--ca", bad]].concat());
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(bad), "{}", run.stderr);
    }
}
