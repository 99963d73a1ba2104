//! Files: reading them for programs that must not wait, replacing them as a whole, and telling whether two names mean
//! the same file.
//!
//! A file is replaced in this order: the new content is written to a file beside it, which then takes its name. At
//! every moment the name means the old file or the new one, and a failure (a full disk, a limit) leaves the old one.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use selvedge_faults::{self as faults, Point};

/// Limit on the number of symbolic links in a row, as in Linux.
const MAX_LINKS: usize = 40;

/// Limit on the length of a text; positions are numbers of 32 bits.
const MAX_LENGTH: u64 = u32::MAX as u64;

/// Returns the content of a regular file. Other files, which can be endless or never answer, are refused.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let refuse = |message: &str| Err(io::Error::new(ErrorKind::InvalidInput, message));
    // A pipe is not even opened: that would wait for its other end.
    let metadata = fs::metadata(path)?;
    faults::attempt(Point::Read)?;
    if !metadata.is_file() {
        return refuse(if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" });
    }
    if metadata.len() > MAX_LENGTH {
        return refuse("files of 4 GiB or more are not supported");
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LENGTH).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file as a whole: beside the old one, which it then replaces. The new file has the permissions of the old
/// one. A symbolic link is followed and stays. Devices and pipes are written directly.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, old) = follow(path)?;
    match old {
        Some(old) if !old.is_file() || is_of_process(&target) => {
            OpenOptions::new().append(true).open(&target)?.write_all(bytes)
        }
        old => replace(&target, old.as_ref(), bytes),
    }
}

/// Returns the file that a name means, following symbolic links, and what is known about it if it exists.
fn follow(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_symlink() && !is_of_process(&target) => {
                let next = fs::read_link(&target)?;
                target = target.parent().unwrap_or(Path::new("")).join(next);
            }
            Ok(_) => return fs::metadata(&target).map(|metadata| (target, Some(metadata))),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((target, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns whether a name means an open file of this process (`/dev/stdout`, `/dev/fd/3`), which has no name to take.
fn is_of_process(path: &Path) -> bool {
    ["/proc", "/dev/fd"].iter().any(|folder| path.starts_with(folder))
}

fn replace(target: &Path, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    if old.is_some() {
        // A file that must not be written must not be replaced either, although its folder would allow that.
        OpenOptions::new().write(true).open(target)?;
    }
    if target.file_name().is_none() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (beside, mut file) = create_beside(folder)?;
    let _unfinished = Unfinished::new(&beside);
    let mut written = write_all(&mut file, bytes);
    if let Some(old) = old {
        written = written.and_then(|()| keep_rights(&file, old));
    }
    drop(file);
    written.and_then(|()| faults::attempt(Point::Rename)).and_then(|()| fs::rename(&beside, target)).inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    })
}

fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    if faults::fails(Point::Write) {
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(faults::error(Point::Write));
    }
    file.write_all(bytes)?;
    file.flush()
}

/// The files that are being written and do not have their names yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the files that are being written, before the program ends in the middle of that.
pub fn remove_unfinished() {
    // A thread that is at the list does not stay there for long; one that was ended there does not matter any more.
    let Ok(unfinished) = UNFINISHED.try_lock() else { return };
    for path in &*unfinished {
        let _ = fs::remove_file(path);
    }
}

/// An entry of the list, for as long as it lives.
struct Unfinished<'p>(&'p Path);

impl Unfinished<'_> {
    fn new(path: &Path) -> Unfinished<'_> {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        Unfinished(path)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path != self.0);
    }
}

/// Creates a file with a new name in a folder.
fn create_beside(folder: &Path) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".selvedge-{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            // One that was left behind by a program of the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives a file the permissions of another one, and its owner where that is allowed.
fn keep_rights(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only the superuser may give files away; without that right the file belongs to who wrote it.
            let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

/// The identity of a regular file, or of one that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Id {
    #[cfg(unix)]
    Number {
        device: u64,
        inode: u64,
    },
    Path(PathBuf),
}

impl FileId {
    /// Returns the file that a name means. `None` for folders, devices and pipes, and where that cannot be told.
    pub fn of(path: &Path) -> Option<FileId> {
        match follow(path) {
            Ok((target, Some(metadata))) => FileId::existing(&target, &metadata),
            Ok((target, None)) => FileId::new_in_folder(&target),
            Err(_) => None,
        }
    }

    #[cfg(unix)]
    fn existing(_: &Path, metadata: &Metadata) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt as _;
        metadata.is_file().then(|| FileId(Id::Number { device: metadata.dev(), inode: metadata.ino() }))
    }

    #[cfg(not(unix))]
    fn existing(target: &Path, metadata: &Metadata) -> Option<FileId> {
        metadata.is_file().then(|| fs::canonicalize(target).ok().map(|path| FileId(Id::Path(path)))).flatten()
    }

    fn new_in_folder(target: &Path) -> Option<FileId> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).ok()?;
        Some(FileId(Id::Path(folder.join(target.file_name()?))))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Returns an empty folder for a test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("selvedge-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_nothing_is_left_beside_it() {
        let folder = folder("replace");
        let path = folder.join("a.bp");
        write(&path, b"new").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        write(&path, b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o604);
        assert_eq!(names(&folder), ["a.bp"]);
        drop(fs::remove_dir_all(folder));
    }

    #[test]
    fn links_are_followed_to_files_that_exist_or_not() {
        let folder = folder("links");
        fs::create_dir(folder.join("in")).unwrap();
        symlink("in/real.bp", folder.join("link.bp")).unwrap();
        symlink("link.bp", folder.join("again.bp")).unwrap();
        for text in ["one", "two"] {
            write(&folder.join("again.bp"), text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(folder.join("in/real.bp")).unwrap(), text);
            assert!(fs::symlink_metadata(folder.join("link.bp")).unwrap().is_symlink());
        }
        symlink("loop.bp", folder.join("loop.bp")).unwrap();
        assert!(write(&folder.join("loop.bp"), b"").is_err());
        drop(fs::remove_dir_all(folder));
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failure");
        let path = folder.join("d");
        fs::create_dir(&path).unwrap();
        assert!(write(&path, b"x").is_err(), "a folder is not a file");
        assert!(write(&folder.join("no/file"), b"x").is_err(), "the folder is missing");
        assert!(write(Path::new("/dev/full"), b"x").is_err(), "the device is full");
        assert!(write(Path::new("/dev/null"), b"x").is_ok());
        assert_eq!(names(&folder), ["d"]);
        drop(fs::remove_dir_all(folder));
    }

    #[test]
    fn an_end_in_the_middle_of_a_write_leaves_the_old_file() {
        let folder = folder("unfinished");
        fs::write(folder.join("a.bp"), "old").unwrap();
        let (beside, mut file) = create_beside(&folder).unwrap();
        let _unfinished = Unfinished::new(&beside);
        file.write_all(b"ne").unwrap();
        remove_unfinished();
        assert_eq!(names(&folder), ["a.bp"]);
        drop(fs::remove_dir_all(folder));
    }

    #[test]
    fn names_of_one_file_are_recognised() {
        let folder = folder("same");
        fs::create_dir(folder.join("sub")).unwrap();
        fs::write(folder.join("a"), "").unwrap();
        fs::hard_link(folder.join("a"), folder.join("hard")).unwrap();
        symlink("a", folder.join("soft")).unwrap();
        symlink("b", folder.join("dangling")).unwrap();
        let id = |name: &str| FileId::of(&folder.join(name));
        assert!(id("a").is_some());
        for other in ["hard", "soft", "sub/../a", "./a"] {
            assert_eq!(id("a"), id(other), "{other}");
        }
        assert_eq!(id("b"), id("sub/../b"));
        assert_eq!(id("b"), id("dangling"));
        assert_ne!(id("b"), id("c"));
        assert_ne!(id("a"), id("b"));
        assert_eq!(FileId::of(Path::new("/dev/null")), None);
        drop(fs::remove_dir_all(folder));
    }

    #[test]
    fn only_regular_files_are_read_whole() {
        assert!(read_regular(Path::new("/dev/zero")).is_err());
        assert!(read_regular(&std::env::temp_dir()).is_err());
    }
}
