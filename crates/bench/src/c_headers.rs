//! Headers of C programs of other people, from the repositories that the programs were fetched from.
//!
//! A program of the folder is a single file, whose name has its path in its repository, with `__` for `/`. A header
//! that it includes and that is not there is taken from the repository, which is a bare git directory
//! `FETCHED/OWNER+NAME/repo`. It is written to a folder for the time of the run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The headers that were found, in a folder that exists as long as this.
pub struct Headers {
    repositories: Vec<Repository>,
    folder: PathBuf,
}

struct Repository {
    folder: PathBuf,
    files: Vec<String>,
}

impl Drop for Headers {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Headers {
    /// Looks for repositories in the folder that `SELVEDGE_C_FETCHED` names, else in `../.mirror`.
    pub fn find() -> Headers {
        let fetched = std::env::var_os("SELVEDGE_C_FETCHED").map_or_else(|| PathBuf::from("../.mirror"), PathBuf::from);
        let folders = fs::read_dir(&fetched).into_iter().flatten().flatten().map(|entry| entry.path().join("repo"));
        let mut repositories: Vec<Repository> = folders.filter_map(repository).collect();
        repositories.sort_by(|one, other| one.folder.cmp(&other.folder));
        let folder = std::env::temp_dir().join(format!("selvedge-c-headers-{}", std::process::id()));
        Headers { repositories, folder }
    }

    /// Writes the headers that a program includes and that are not there. Returns the folder to look for them in.
    pub fn of(&self, name: &str, path: &Path, text: &str) -> io::Result<Option<PathBuf>> {
        let beside = path.parent().unwrap_or(Path::new(""));
        let missing: Vec<&str> = quoted(text).filter(|header| !beside.join(header).exists()).collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let file = name.rsplit('/').next().unwrap_or(name);
        for repository in &self.repositories {
            let Some(origin) = repository.files.iter().find(|known| known.replace('/', "__") == file) else { continue };
            let near = Path::new(origin).parent().unwrap_or(Path::new(""));
            let folder = self.folder.join(near);
            fs::create_dir_all(&folder)?;
            for header in missing {
                let wanted = plain(&near.join(header));
                if let Some(text) = repository.show(&wanted) {
                    let to = self.folder.join(&wanted);
                    to.parent().map_or(Ok(()), fs::create_dir_all)?;
                    fs::write(to, text)?;
                }
            }
            return Ok(Some(folder));
        }
        Ok(None)
    }
}

impl Repository {
    fn show(&self, path: &Path) -> Option<Vec<u8>> {
        let object = format!("HEAD:{}", path.to_str()?);
        git(&self.folder, &["show", &object])
    }
}

fn repository(folder: PathBuf) -> Option<Repository> {
    let files = git(&folder, &["ls-tree", "-r", "--name-only", "HEAD"])?;
    let files =
        String::from_utf8_lossy(&files).lines().filter(|file| file.ends_with(".c")).map(str::to_owned).collect();
    Some(Repository { folder, files })
}

fn git(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Returns the names in lines `#include "NAME"`.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        rest.trim_start().strip_prefix('"')?.split('"').next()
    })
}

/// Returns a path without `..` behind other parts.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_headers_are_listed() {
        let text = "#include \"../a.h\"\n# include <stdio.h>\n  #  include \"b.h\" // c\nint x;";
        assert_eq!(quoted(text).collect::<Vec<_>>(), ["../a.h", "b.h"]);
        assert_eq!(plain(Path::new("x/y/../../z/a.h")), Path::new("z/a.h"));
    }

    #[test]
    fn a_missing_header_comes_from_the_repository() {
        let base = std::env::temp_dir().join(format!("selvedge-bench-headers-{}", std::process::id()));
        let repo = base.join("fetched/owner+name/repo");
        fs::create_dir_all(repo.join("x/y")).expect("the folder is ours");
        fs::write(repo.join("x/y/main.c"), "#include \"../a.h\"\n").expect("the folder is ours");
        fs::write(repo.join("x/a.h"), "int a;\n").expect("the folder is ours");
        let run = |args: &[&str]| git(&repo, args).expect("git works");
        run(&["init", "-q"]);
        run(&["add", "."]);
        run(&["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m"]);
        let headers =
            Headers { repositories: repository(repo.clone()).into_iter().collect(), folder: base.join("headers") };
        let name = "source/x__y__main.c";
        let found = headers.of(name, &base.join(name), "#include \"../a.h\"\n").expect("the folder is ours");
        let found = found.expect("the repository has it");
        assert_eq!(fs::read_to_string(found.join("../a.h")).expect("it was written"), "int a;\n");
        assert_eq!(headers.of(name, &base.join(name), "int x;").expect("nothing is read"), None);
        fs::remove_dir_all(&base).expect("the folder is ours");
    }
}
