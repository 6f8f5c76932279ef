//! What would help, said with the flags and commands of this program.

use crate::error::Remedy;

/// The remedy as the end of an error message.
pub(super) fn phrase(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::ChooseLongText => "use --vectors long-text=window or --vectors long-text=truncate",
        Remedy::ComputeInF32 => "leave out --vectors precision=bf16",
        Remedy::ChoosePooling => "choose --vectors pooling=mean or pooling=cls",
        Remedy::EmbedSentences => {
            "if a text is too long for the model, use --vectors granularity=sentence"
        }
        Remedy::EmbedWholeTexts => "drop --vectors granularity=sentence",
        Remedy::UseGiven => "use --embedder given if all have a vector or judgments",
        Remedy::ChooseFeedback => "it needs --judge feedback=binary or feedback=textual",
        Remedy::ChooseChoice => "it needs --judge choice",
        Remedy::WaitLonger => "raise --server timeout or lower --server concurrency",
        Remedy::LowerConcurrency => "lower --server concurrency",
        Remedy::CheckKey => "see --server api-key-env",
        Remedy::CheckServer => "see --base-url and --model",
        Remedy::NameAuthority => {
            "name the certificate of the authority with --ca FILE, or the server's own if it \
             signed itself"
        }
        Remedy::PullModel => "`caz models pull` with this name downloads it",
        Remedy::NameModel => "choose one with --model",
        Remedy::AllowNetwork => "--offline forbids it",
        Remedy::MoreTurns => "allow more turns, or try another model",
        Remedy::MoreIterations => "raise --max-iterations",
        Remedy::FewerThreads => "try --threads 1",
        Remedy::Resume => "remove it, or choose another name",
        Remedy::MoreSamples => {
            "give more samples, choose another LLM for the cheaters with llm-source, or add copy-z"
        }
        Remedy::NameSource => "name it with --crowd z-source=NAME",
        Remedy::NameSources => "name them with --crowd z-source=A,B",
        Remedy::DropRewriting => "drop polish, formal, shorten and reword-copies, or give texts",
        Remedy::ChooseDuplicates => "remove one, or use --duplicates first|last",
        Remedy::ChooseNames => {
            "remove one, use --duplicates first|last|join, or --names per-paper if a name is another \
             person on every paper"
        }
        Remedy::SayNames => "--names global if a name is one person",
        Remedy::KeepLabels => "--exact-labels compares labels as they are written",
        Remedy::NameColumns => "name it with --column KEY=NAME",
        Remedy::ReadAsWide => {
            "--wide worker reads a row a worker (--wide task: a row a task), --columns A,B says which \
             columns are answers, --column worker=NAME which one names the row"
        }
        Remedy::JoinPeople => "--people FILE joins them",
        Remedy::ChooseCacheFolder => "set CAZ_CACHE_DIR to a folder you can write to",
        Remedy::ClearCache => "`caz cache clear` starts a new one",
        Remedy::ListPrompts => "`caz prompts list` shows those there are",
        Remedy::ChooseAspectVectors => {
            "choose them with --vectors aspects-from: static, or bert: with all-MiniLM-L6-v2"
        }
        Remedy::MakeStaticModel => "model2vec writes such a folder",
        Remedy::ChooseOutput => "choose another --output",
        Remedy::ChooseSamples => "see --samples",
        Remedy::ChooseTurns => "see turns",
        Remedy::GiveTask => "add --task FILE",
        Remedy::DropTask => "drop --task",
        Remedy::NameDictionary => {
            "`caz canary check --dictionary FILE` takes the one that the plan was drawn from"
        }
        Remedy::AddCredit => "add credit to the account, then run the same command again",
        Remedy::MoreTokens => "raise --max-tokens",
        Remedy::GiveZFile => "add --z FILE",
        Remedy::GiveZ => "add --z FILE, or choose --mechanism ca, oa or ds",
    }
}
