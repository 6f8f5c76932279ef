//! Language models: one file of several, or a folder.

use super::*;

/// A repository with two language models, one of them in a folder, a third in parts, and what is
/// none.
fn language_models() -> BTreeMap<String, Vec<u8>> {
    [
        ("a.Q4_K_M.gguf", 300),
        ("big/b.Q8_0.gguf", 2_500_000),
        ("c-00001-of-00002.gguf", 10),
        ("c-00002-of-00002.gguf", 10),
        ("odd name.gguf", 10),
        ("README.md", 10),
        ("config.json", 10),
    ]
    .map(|(name, bytes)| (name.to_owned(), (0..=250).cycle().take(bytes).collect()))
    .into()
}

fn quiet(_: &Planned<'_>) -> Box<dyn Progress> {
    Box::new(NoProgress)
}

fn nothing_planned(planned: &Planned<'_>) -> Box<dyn Progress> {
    panic!("nothing was to be fetched: {planned:?}")
}

#[test]
fn a_language_model_is_fetched_once_its_size_and_licence_said_before() {
    let storage = FakeHub::of(language_models(), None);
    let hub = FakeHub::of(language_models(), Some(storage.endpoint.clone()));
    let cache = tempfile::tempdir().unwrap();
    let settings = HubSettings { token: Token::new("hf_secret"), ..hub.settings(cache.path()) };
    let reference = format!("{MODEL}/big/b.Q8_0.gguf");
    let error = locate_gguf(&reference, &settings).unwrap_err();
    assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
    assert_eq!((error.kind(), error.remedy()), (ErrorKind::Missing, Some(Remedy::PullModel)));
    assert_eq!(hub.asked(), 0, "looking up asks nobody");

    let received = Arc::new(AtomicU64::new(0));
    let begin = |planned: &Planned<'_>| -> Box<dyn Progress> {
        assert_eq!((planned.name.as_str(), planned.bytes), (reference.as_str(), 2_500_000));
        assert_eq!(planned.licence, Some("apache-2.0"));
        assert_eq!(storage.asked(), 0, "it is said before");
        Box::new(Count(received.clone()))
    };
    let path = pull(&reference, None, &settings, &begin).unwrap();
    assert_eq!(received.load(Ordering::Relaxed), 2_500_000);
    assert_eq!(std::fs::read(&path).unwrap(), language_models()["big/b.Q8_0.gguf"]);
    // The description and the file; the token goes to the hub alone.
    assert_eq!((hub.asked(), storage.asked()), (2, 1));
    let tokens = |hub: &FakeHub| -> Vec<Option<String>> {
        hub.requests.lock().unwrap().iter().map(|(_, token)| token.clone()).collect()
    };
    assert_eq!(tokens(&hub), vec![Some("Bearer hf_secret".to_owned()); 2]);
    assert_eq!(tokens(&storage), [None]);

    // From now on it is there, also without a network and where it is the only one.
    let offline = HubSettings { offline: true, ..settings.clone() };
    for (name, kind) in [
        (reference.clone(), None),
        (format!("{reference}@{COMMIT}"), Some(ModelKind::Language)),
        (MODEL.to_owned(), Some(ModelKind::Language)),
        (MODEL.to_owned(), None),
    ] {
        assert_eq!(pull(&name, kind, &offline, &nothing_planned).unwrap(), path, "{name}");
        assert_eq!(locate_gguf(&name, &offline).unwrap(), path, "{name}");
    }
    assert_eq!((hub.asked(), storage.asked()), (2, 1));
    let found = cached_gguf(&settings).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].model.as_str(), found[0].file.as_str()), (MODEL, "big/b.Q8_0.gguf"));
    assert_eq!((found[0].bytes, &found[0].path), (2_500_000, &path));
    assert_eq!(found[0].revisions, ["main"]);
    assert!(cached_models(&settings).unwrap().is_empty(), "it is no encoder");

    // Of two in the cache one has to be named.
    pull(&format!("{MODEL}/a.Q4_K_M.gguf"), None, &settings, &quiet).unwrap();
    let error = locate_gguf(MODEL, &settings).unwrap_err();
    assert!(matches!(&error, HubError::SeveralFiles { files, .. } if files.len() == 2), "{error}");
    assert_eq!(locate_gguf(&reference, &settings).unwrap(), path);
}

#[test]
fn which_language_model_is_meant_has_to_be_said_where_there_are_several() {
    let hub = FakeHub::of(language_models(), None);
    let cache = tempfile::tempdir().unwrap();
    let settings = hub.settings(cache.path());
    let pulled = |reference: &str| pull(reference, None, &settings, &nothing_planned);
    let error = pulled(MODEL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let text = error.to_string();
    for part in ["2 language models", "`a.Q4_K_M.gguf` (0.0 MB)", "`big/b.Q8_0.gguf` (2.5 MB)"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("-of-") && !text.contains("odd"), "{text}");
    let error = pulled(&format!("{MODEL}/d.gguf")).unwrap_err();
    assert!(matches!(error, HubError::NoSuchFile { .. }), "{error}");
    assert!(error.to_string().contains("`a.Q4_K_M.gguf`"), "{error}");
    let asked = hub.asked();
    let error = pulled(&format!("{MODEL}/c-00001-of-00002.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Part { .. }), "{error}");
    let offline = HubSettings { offline: true, ..settings.clone() };
    for name in [MODEL.to_owned(), format!("{MODEL}/a.Q4_K_M.gguf")] {
        let error = pull(&name, None, &offline, &nothing_planned).unwrap_err();
        assert!(matches!(&error, HubError::NotCached { model, .. } if *model == name), "{error}");
    }
    assert_eq!(hub.asked(), asked);

    // The only one need not be named, and an encoder is still one.
    let mut files = language_models();
    files.remove("a.Q4_K_M.gguf");
    let hub = FakeHub::of(files, None);
    let path = pull(MODEL, None, &hub.settings(cache.path()), &quiet).unwrap();
    assert!(path.ends_with("big/b.Q8_0.gguf"), "{path:?}");
    let (hub, cache) = (FakeHub::start(), tempfile::tempdir().unwrap());
    let settings = hub.settings(cache.path());
    let folder = pull(MODEL, None, &settings, &quiet).unwrap();
    assert_eq!(folder, locate(MODEL, &settings).unwrap().folder);
    let error = pull(MODEL, Some(ModelKind::Language), &settings, &nothing_planned).unwrap_err();
    assert!(matches!(error, HubError::NotUsable { .. }), "{error}");
}

#[test]
fn a_language_model_that_breaks_off_or_is_damaged_is_none_and_is_completed() {
    let hub = FakeHub::of(language_models(), None);
    let cache = tempfile::tempdir().unwrap();
    let short = Duration::from_millis(300);
    let waits = Waits { connection: short, answer: short, silence: short };
    let settings = HubSettings { waits, ..hub.settings(cache.path()) };
    let reference = format!("{MODEL}/big/b.Q8_0.gguf");
    hub.silent.store(true, Ordering::Relaxed);
    let error = pull(&reference, None, &settings, &quiet).unwrap_err();
    assert!(matches!(error, HubError::Network { .. }), "{error}");
    assert!(matches!(locate_gguf(&reference, &settings), Err(HubError::NotPulled { .. })));
    assert!(cached_gguf(&settings).unwrap().is_empty());
    hub.silent.store(false, Ordering::Relaxed);

    // The second half arrives damaged: nothing of it is kept.
    hub.corrupt.store(true, Ordering::Relaxed);
    let settings = hub.settings(cache.path());
    let error = pull(&reference, None, &settings, &quiet).unwrap_err();
    assert!(matches!(error, HubError::Damaged { .. }), "{error}");
    assert!(cached_gguf(&settings).unwrap().is_empty());
    hub.corrupt.store(false, Ordering::Relaxed);
    let path = pull(&reference, None, &settings, &quiet).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), language_models()["big/b.Q8_0.gguf"]);
}

/// A language model in safetensors files, and what is not needed.
fn language_folder() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/local/llama");
    files_below(&folder, "", &mut files);
    files.insert("README.md".into(), b"a model".to_vec());
    files.insert("original/params.json".into(), b"{}".to_vec());
    files
}

#[test]
fn a_language_model_in_a_folder_is_fetched_once_and_found_without_a_network() {
    // With and without saying what it is.
    for kind in [Some(ModelKind::Language), None] {
        let hub = FakeHub::of(language_folder(), None);
        let cache = tempfile::tempdir().unwrap();
        let settings = hub.settings(cache.path());
        let error = locate_gguf(MODEL, &settings).unwrap_err();
        assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
        assert_eq!(hub.asked(), 0, "looking up asks nobody");
        let needed = [
            "chat_template.jinja",
            "config.json",
            "generation_config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json",
            "tokenizer.json",
            "tokenizer_config.json",
        ];
        let files = language_folder();
        let expected: Vec<&str> =
            needed.into_iter().filter(|name| files.contains_key(*name)).collect();
        assert_eq!(expected.len(), 7);
        let bytes: usize = expected.iter().map(|name| files[*name].len()).sum();
        let begin = |planned: &Planned<'_>| -> Box<dyn Progress> {
            assert_eq!((planned.name.as_str(), planned.bytes), (MODEL, bytes as u64));
            assert_eq!(planned.licence, Some("apache-2.0"));
            Box::new(NoProgress)
        };
        let folder = pull(MODEL, kind, &settings, &begin).unwrap();
        let mut fetched = BTreeMap::new();
        files_below(&folder, "", &mut fetched);
        assert_eq!(fetched.keys().collect::<Vec<_>>(), expected);
        for (name, content) in fetched {
            assert_eq!(content, files[&name], "{name}");
        }

        let asked = hub.asked();
        let offline = HubSettings { offline: true, ..settings.clone() };
        for kind in [Some(ModelKind::Language), None] {
            assert_eq!(pull(MODEL, kind, &offline, &nothing_planned).unwrap(), folder);
        }
        assert_eq!(locate_gguf(MODEL, &offline).unwrap(), folder);
        assert_eq!(locate_gguf(&format!("{MODEL}@{COMMIT}"), &offline).unwrap(), folder);
        assert_eq!(locate_gguf(folder.to_str().unwrap(), &offline).unwrap(), folder);
        let error = locate_gguf(&format!("{MODEL}/a.gguf"), &offline).unwrap_err();
        assert!(matches!(error, HubError::NotPulled { .. }), "{error}");
        assert_eq!(hub.asked(), asked);
        let found = cached_language_models(&offline).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].model.as_str(), found[0].family.as_str()), (MODEL, "llama"));
        assert_eq!((found[0].bytes, &found[0].folder), (bytes as u64, &folder));
        assert_eq!(found[0].revisions, ["main"]);
        assert!(cached_gguf(&offline).unwrap().is_empty());
        assert!(cached_models(&offline).unwrap().is_empty(), "it is no encoder");

        // Without all of its weights it is none.
        std::fs::remove_file(folder.join("model-00002-of-00002.safetensors")).unwrap();
        assert!(cached_language_models(&offline).unwrap().is_empty());
        assert!(locate_gguf(MODEL, &offline).is_err());
    }
}

#[test]
fn a_repository_with_a_gguf_file_means_that_and_one_that_no_command_can_run_is_not_fetched() {
    let cache = tempfile::tempdir().unwrap();
    let mut both = language_folder();
    both.insert("a.Q8_0.gguf".into(), vec![7; 100]);
    let hub = FakeHub::of(both, None);
    let settings = hub.settings(cache.path());
    let path = pull(MODEL, Some(ModelKind::Language), &settings, &quiet).unwrap();
    assert!(path.ends_with("a.Q8_0.gguf"), "{path:?}");
    assert!(cached_language_models(&settings).unwrap().is_empty());

    let mut other = language_folder();
    other.insert("config.json".into(), br#"{"model_type": "gemma3"}"#.to_vec());
    let mut torch = language_folder();
    torch.retain(|name, _| !name.contains("safetensors"));
    torch.insert("pytorch_model.bin".into(), vec![0; 100]);
    let mut untold = language_folder();
    untold.remove("tokenizer.json");
    for files in [other, torch, untold] {
        let hub = FakeHub::of(files, None);
        let cache = tempfile::tempdir().unwrap();
        let settings = hub.settings(cache.path());
        let error =
            pull(MODEL, Some(ModelKind::Language), &settings, &nothing_planned).unwrap_err();
        assert!(matches!(error, HubError::NotUsable { .. }), "{error}");
        assert!(error.to_string().contains("llama, qwen2 and qwen3"), "{error}");
    }
}

#[test]
fn references_to_language_models_are_repositories_with_or_without_a_file() {
    for (reference, name, file, revision) in [
        ("org/name", "org/name", None, "main"),
        ("org/name@v1", "org/name", None, "v1"),
        ("org/name/x.Q4_K_M.gguf", "org/name", Some("x.Q4_K_M.gguf"), "main"),
        ("org/name/q4/x.gguf@refs/pr/3", "org/name", Some("q4/x.gguf"), "refs/pr/3"),
        ("org/name/1-of-2.gguf", "org/name", Some("1-of-2.gguf"), "main"),
    ] {
        let parsed = GgufReference::parse(reference).unwrap();
        assert_eq!(parsed.model, HubModel { name: name.into(), revision: revision.into() });
        assert_eq!(parsed.file.as_deref(), file);
    }
    for bad in [
        "",
        "name",
        "x.gguf",
        "folder/x.gguf",
        "./org/x.gguf",
        "/org/name/x.gguf",
        "~/models/x.gguf",
        "../org/name/x.gguf",
        "org/name/",
        "org/name/x.bin",
        "org/name/../../x.gguf",
        "org/name/.x.gguf",
        "org/name//x.gguf",
        "org/name/x?.gguf",
        "org/name/x.gguf@",
        "org/name/x.gguf@../../y",
        r"org/name/a\x.gguf",
    ] {
        let error = GgufReference::parse(bad).unwrap_err();
        assert!(matches!(error, HubError::InvalidGguf { .. }), "{bad}: {error}");
    }
}
