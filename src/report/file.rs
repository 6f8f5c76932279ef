//! Output files appear whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file through a temporary one beside it, renamed when everything is on disk.
///
/// # Errors
///
/// What the file system or `write` reports; an earlier file at `path` is then untouched.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // The default of temporary files, readable by the owner only, is not what users expect of an
    // output; the umask still applies.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary: NamedTempFile = builder.prefix(".caz-").tempfile_in(folder)?;
    let mut buffered = BufWriter::new(temporary);
    write(&mut buffered)?;
    let temporary = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_no_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        write_file(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_file(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
