//! The folders in which a run writes its results.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The folders for records, tables and plots. A suite has its tables in `bench/results` and its plots in `docs/plots`,
/// where the book finds them; the records stay with the tables and out of the repository.
#[derive(Clone, Debug)]
pub struct Output {
    pages: PathBuf,
    plots: PathBuf,
    link: String,
}

impl Output {
    /// Returns the folders of a suite in a repository.
    pub fn of_suite(root: &Path, suite: &str) -> Output {
        Output {
            pages: root.join("bench/results").join(suite),
            plots: root.join("docs/plots").join(suite),
            link: format!("../../../docs/plots/{suite}/"),
        }
    }

    /// Writes everything into one folder.
    pub fn folder(folder: PathBuf) -> Output {
        Output { pages: folder.clone(), plots: folder, link: String::new() }
    }

    /// Returns the Markdown that shows a plot on the page.
    pub fn image(&self, title: &str, file: &str) -> String {
        format!("\n![{title}]({}{file})\n", self.link)
    }

    /// Writes `results.json`.
    pub fn write_records(&self, records: &impl Serialize) -> io::Result<()> {
        write(&self.pages, "results.json", &(serde_json::to_string_pretty(records)? + "\n"))
    }

    /// Writes `README.md`.
    pub fn write_page(&self, text: &str) -> io::Result<()> {
        write(&self.pages, "README.md", text)
    }

    /// Writes a plot.
    pub fn write_plot(&self, file: &str, svg: &str) -> io::Result<()> {
        write(&self.plots, file, svg)
    }
}

fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(file), text)
}
