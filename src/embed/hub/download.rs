//! Fetching a model into the cache.
//!
//! The commit is asked for first and every file is fetched by commit, so a branch that moves
//! meanwhile cannot mix two versions. A file is received under a name of its own, goes on where an
//! earlier run broke off, and gets its place only when it is complete and has the checksum that the
//! hub names. The branch's name is written into the cache last: an interrupted download is never
//! taken for a model. hf-hub knows the layout of the cache; its own downloads are not used, because
//! they send the token to the hosts that the hub redirects to and wait for ever.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hf_hub::{Cache, CacheRepo, Repo, RepoType};
use sha2::{Digest, Sha256};

use super::cache::ModelCache;
use super::error::HubError;
use super::repository::{RemoteFile, Repository, answer, network};
use super::requests::{Client, Failure};
use super::settings::HubSettings;
use super::{HubModel, ModelFolder};
use crate::data::hexadecimal::hexadecimal;
use crate::data::progress::Progress;

/// What is to be fetched for a model: known before the first byte is.
pub(crate) struct Download {
    model: HubModel,
    commit: String,
    files: Vec<RemoteFile>,
    client: Client,
    settings: HubSettings,
}

impl Download {
    /// Asks the hub which files of an encoder are needed.
    ///
    /// # Errors
    ///
    /// [`HubError`] if settings forbid it, the hub cannot be reached, does not have the model or
    /// the model lacks needed files.
    pub(crate) fn plan(model: &HubModel, settings: &HubSettings) -> Result<Self, HubError> {
        let repository = Repository::ask(model, settings)?;
        let files = repository.encoder_files()?;
        Ok(Self::of(repository, files))
    }

    /// What is to be fetched for `files` of a repository.
    pub(super) fn of(repository: Repository, files: Vec<RemoteFile>) -> Self {
        let Repository { model, commit, client, settings, .. } = repository;
        Self { model, commit, files, client, settings }
    }

    /// Size of all files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Fetches what is not in the cache yet; `progress` hears of every byte once, and is asked
    /// between bytes whether to go on.
    ///
    /// # Errors
    ///
    /// [`HubError`] if it is interrupted, the network breaks off, a file is damaged or the cache cannot be written.
    pub(crate) fn run(&self, progress: &dyn Progress) -> Result<ModelFolder, HubError> {
        let cache = self.cache();
        let snapshot = cache.pointer_path(&self.commit);
        for file in &self.files {
            let path = snapshot.join(&file.name);
            if path.is_file() {
                progress.advance(file.bytes);
                continue;
            }
            let content = self.fetch(file, progress)?;
            let place = || put_in_place(&content, &path, file);
            place().map_err(|source| HubError::Cache { path: path.clone(), source })?;
        }
        // Written last: only a complete model has a name.
        cache.create_ref(&self.commit).map_err(|source| {
            let model = ModelCache::new(&self.settings, &self.model.name);
            HubError::Cache { path: model.reference(&self.model.revision), source }
        })?;
        Ok(ModelFolder { folder: snapshot, commit: Some(self.commit.clone()) })
    }

    fn cache(&self) -> CacheRepo {
        let (name, revision) = (self.model.name.clone(), self.model.revision.clone());
        let repository = Repo::with_revision(name, RepoType::Model, revision);
        Cache::new(self.settings.cache.clone()).repo(repository)
    }

    /// The content of a file in the cache, fetched if it is not there. Two processes that want the
    /// same file wait for each other.
    fn fetch(&self, file: &RemoteFile, progress: &dyn Progress) -> Result<PathBuf, HubError> {
        let named = || hexadecimal(&Sha256::digest(format!("{}/{}", self.commit, file.name)));
        let name = file.content.clone().unwrap_or_else(named);
        let path = ModelCache::new(&self.settings, &self.model.name).blob(&name);
        let unusable = |source| HubError::Cache { path: path.clone(), source };
        fs::create_dir_all(path.parent().expect("a file is in a folder")).map_err(unusable)?;
        let lock = File::create(path.with_extension("lock")).map_err(unusable)?;
        lock.lock().map_err(unusable)?;
        if path.is_file() {
            progress.advance(file.bytes);
            return Ok(path);
        }
        let part = path.with_extension("part");
        self.receive(file, &part, progress)?;
        verify(&part, file)?;
        fs::rename(&part, &path).map_err(unusable)?;
        Ok(path)
    }

    /// Receives what `part` lacks.
    fn receive(
        &self,
        file: &RemoteFile,
        part: &Path,
        progress: &dyn Progress,
    ) -> Result<(), HubError> {
        let unusable = |source| HubError::Cache { path: part.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut out = options.append(true).create(true).open(part).map_err(unusable)?;
        let mut there = out.metadata().map_err(unusable)?.len();
        if there > 0 && there == file.bytes {
            progress.advance(there);
            return Ok(());
        }
        if there > file.bytes {
            out.set_len(0).map_err(unusable)?;
            there = 0;
        }
        let address = format!("{}/resolve/{}/{}", self.model.name, self.commit, file.name);
        let failed = |failure| network(&self.model, &self.settings, failure);
        let mut response = match self.client.get(&address, there) {
            // What is there is not the start of what the hub has.
            Err(Failure::Status(416)) => {
                out.set_len(0).map_err(unusable)?;
                there = 0;
                self.client.get(&address, 0).map_err(failed)?
            }
            other => other.map_err(failed)?,
        };
        if there > 0 && response.status().as_u16() != 206 {
            // The host sends the whole file.
            out.set_len(0).map_err(unusable)?;
            there = 0;
        }
        progress.advance(there);
        // Without an end that somebody names, a host could fill the disk.
        let announced = response.body().content_length();
        let most = match (file.bytes, announced) {
            (0, None) => {
                let reason = format!("nobody says how large `{}` is", file.name);
                return Err(answer(&self.settings, &reason));
            }
            (0, Some(rest)) => rest,
            (all, _) => all - there,
        };
        // One byte more than announced, so that what is too long is seen.
        let mut body = response.body_mut().as_reader().take(most.saturating_add(1));
        let mut buffer = vec![0; 1 << 16];
        loop {
            if progress.interrupted() {
                return Err(HubError::Interrupted { model: self.model.name.clone() });
            }
            let read = body
                .read(&mut buffer)
                .map_err(|error| failed(Failure::Connection(Box::new(error))))?;
            if read == 0 {
                break;
            }
            out.write_all(&buffer[..read]).map_err(unusable)?;
            there += read as u64;
            progress.advance(read as u64);
        }
        if file.bytes > 0 && there != file.bytes {
            let _ = fs::remove_file(part);
            let (name, bytes) = (&file.name, file.bytes);
            let reason = format!("`{name}` has {there} bytes or more instead of {bytes}");
            return Err(answer(&self.settings, &reason));
        }
        Ok(())
    }
}

/// Makes `path` in the snapshot stand for `content`.
fn put_in_place(content: &Path, path: &Path, file: &RemoteFile) -> io::Result<()> {
    fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    #[cfg(unix)]
    {
        // From the file's folder up to that of the model.
        let up = "../".repeat(2 + file.name.matches('/').count());
        let name = content.file_name().expect("a content has a name");
        std::os::unix::fs::symlink(Path::new(&up).join("blobs").join(name), path)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        fs::rename(content, path)
    }
}

/// Compares a file with the hub's checksum and deletes it if it differs.
fn verify(path: &Path, file: &RemoteFile) -> Result<(), HubError> {
    let Some(expected) = &file.sha256 else { return Ok(()) };
    let found = sha256(path).map_err(|source| HubError::Cache { path: path.into(), source })?;
    if found == *expected {
        return Ok(());
    }
    // If it cannot be removed, the error still says why.
    let _ = fs::remove_file(path);
    Err(HubError::Damaged { file: file.name.clone(), expected: expected.clone(), found })
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

#[cfg(test)]
pub(super) fn sha256_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
