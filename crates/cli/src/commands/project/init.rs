//! `selvedge init`: a project with programs, their verdicts, and files for continuous integration.

use std::path::Path;

use selvedge_frontend::files;

use crate::args::InitArgs;
use crate::exit::Exit;
use crate::outputs::shown;
use crate::session::Session;

/// The files of a new project.
const FILES: [(&str, &str); 8] = [
    ("README.md", include_str!("template/README.md")),
    ("programs/lock.bp", include_str!("template/lock.bp")),
    ("programs/lock_broken.bp", include_str!("template/lock_broken.bp")),
    ("programs/counter.c", include_str!("template/counter.c")),
    ("programs/counter_broken.c", include_str!("template/counter_broken.c")),
    (".github/workflows/selvedge.yml", include_str!("template/github.yml")),
    (".gitlab-ci.yml", include_str!("template/gitlab.yml")),
    (".pre-commit-config.yaml", include_str!("template/pre-commit.yaml")),
];

pub(crate) fn run(args: &InitArgs, session: &Session) -> Result<Exit, Exit> {
    let taken: Vec<&str> =
        FILES.iter().map(|(name, _)| *name).filter(|name| args.folder.join(name).symlink_metadata().is_ok()).collect();
    if !taken.is_empty() {
        let message = format!("{} already has {}", shown(&args.folder), taken.join(", "));
        session.printer.error(&message);
        session.printer.help("name another folder; nothing was written");
        return Err(Exit::Input);
    }
    for (name, text) in FILES {
        write(&args.folder.join(name), text).map_err(|message| session.refuse(Exit::Input, message))?;
        session.printer.out(&format!("{}\n", shown(&args.folder.join(name))));
    }
    session.printer.out(&format!("next: selvedge test {}\n", shown(&args.folder)));
    Ok(Exit::Success)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", shown(path));
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    files::write(path, text.as_bytes()).map_err(failed)
}
