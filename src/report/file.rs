//! Output files appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// How the names of unfinished files begin and end; between stand [`RANDOM`] letters and digits.
const PREFIX: &str = ".caz-";
const SUFFIX: &str = ".unfinished";
const RANDOM: usize = 8;

/// An unfinished file of this age is that of a process that was killed.
const STALE: Duration = Duration::from_hours(24);

/// Most links that are followed from one name to a file.
const MOST_LINKS: u32 = 40;

/// Who may read a file that did not exist before. An existing file keeps its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whom the user lets read new files (the umask).
    Anyone,
    /// The owner only: the file holds reviews, or names people.
    Owner,
}

/// Writes a file through a temporary one beside it, renamed when everything is on disk.
///
/// Links are followed: the file that they lead to is replaced, not the link. What is no regular
/// file (a device, a pipe) is written to as it is. An existing file keeps its permissions. What a
/// killed process left beside `path` more than a day ago is removed.
///
/// # Errors
///
/// What the file system or `write` reports; an earlier file at `path` is then untouched.
pub fn write_file(
    path: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = &followed(path)?;
    let existing = match fs::metadata(path) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        return write_through(OpenOptions::new().write(true).open(path)?, write);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    remove_stale(folder);
    let mut builder = tempfile::Builder::new();
    // The umask applies to these, as to every new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = if readers == Readers::Anyone { 0o666 } else { 0o600 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = readers;
    let temporary: NamedTempFile =
        builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM).tempfile_in(folder)?;
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    let mut buffered = BufWriter::new(temporary);
    write(&mut buffered)?;
    let temporary = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Whether [`write_file`] could write here; nothing is written.
///
/// # Errors
///
/// What the file system reports.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    let path = &followed(path)?;
    match fs::metadata(path) {
        // Folders are for commands that write several files; devices and pipes are opened once.
        Ok(existing) if !existing.is_file() => return Ok(()),
        _ => {}
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .rand_bytes(RANDOM)
        .tempfile_in(folder)?;
    Ok(())
}

fn write_through(
    file: File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

/// The file that a name leads to over any number of links; it need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {}
            // Links to pipes and sockets have a target that is no name (`pipe:[7]`).
            _ => return Ok(path),
        }
        if fs::metadata(&path).is_ok_and(|target| !target.is_file()) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    Err(io::Error::other("too many links, one of which may lead to itself"))
}

/// Whether a name is one that [`write_file`] gives.
fn is_unfinished(name: &str) -> bool {
    let between = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    between.is_some_and(|between| {
        between.len() == RANDOM && between.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes what killed processes left in a folder; what cannot be removed stays.
fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let now = SystemTime::now();
    for entry in entries.flatten() {
        if !is_unfinished(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let Ok(about) = entry.metadata() else { continue };
        let age = about.modified().ok().and_then(|at| now.duration_since(at).ok());
        if about.is_file() && age.is_some_and(|age| age > STALE) {
            // Another process may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_text(path: &Path, readers: Readers, text: &str) {
        write_file(path, readers, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_no_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        write_text(&path, Readers::Anyone, "old");
        let failed = write_file(&path, Readers::Anyone, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn an_existing_file_keeps_its_permissions_and_a_private_one_is_for_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = folder.path().join("new");
        write_text(&path, Readers::Owner, "a");
        assert_eq!(mode(&path), 0o600);
        for kept in [0o640, 0o600, 0o644] {
            for readers in [Readers::Owner, Readers::Anyone] {
                fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
                write_text(&path, readers, "b");
                assert_eq!(mode(&path), kept);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        fs::create_dir(inside("there")).unwrap();
        std::os::unix::fs::symlink("there/target", inside("one")).unwrap();
        std::os::unix::fs::symlink(inside("one"), inside("two")).unwrap();
        // The second time the target exists.
        for text in ["first", "second"] {
            write_text(&inside("two"), Readers::Anyone, text);
            assert_eq!(fs::read_to_string(inside("there/target")).unwrap(), text);
            assert!(fs::symlink_metadata(inside("two")).unwrap().is_symlink());
            assert!(fs::symlink_metadata(inside("one")).unwrap().is_symlink());
        }
        std::os::unix::fs::symlink(inside("loop"), inside("loop")).unwrap();
        assert!(write_file(&inside("loop"), Readers::Anyone, |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_written_to_and_stays_what_it_is() {
        use std::io::Read;
        write_text(Path::new("/dev/null"), Readers::Anyone, "x");
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        // A pipe as a shell hands it to a program for `>(...)`.
        let (mut reader, writer) = io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
        let path = PathBuf::from(format!("/dev/fd/{number}"));
        write_text(&path, Readers::Anyone, "through");
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn old_rests_are_removed_and_young_ones_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        let old = SystemTime::now() - 2 * STALE;
        let ours = ".caz-aB3dE6gH.unfinished";
        let files = [
            (ours, Some(old)),
            (".caz-young678.unfinished", None),
            ("other", Some(old)),
            (".caz-notes", Some(old)),
            (".caz-my.backup.unfinished", Some(old)),
        ];
        for (name, age) in files {
            let file = File::create(inside(name)).unwrap();
            if let Some(at) = age {
                file.set_modified(at).unwrap();
            }
        }
        write_text(&inside("out"), Readers::Anyone, "x");
        assert!(!inside(ours).exists());
        assert!(files[1..].iter().all(|(name, _)| inside(name).exists()));
    }
}
