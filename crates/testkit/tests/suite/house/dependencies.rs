//! The dependencies, by the rules of `deny.toml`: licences, sources, and one version of each crate. `cargo deny` checks
//! the same and more, where it could be installed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use selvedge_testkit::corpus::root;
use serde_json::Value;

/// Returns the packages that are built on this platform, as Cargo describes them.
fn packages() -> Vec<Value> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let rustc = String::from_utf8_lossy(&rustc.stdout).into_owned();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its platform");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"].as_array().expect("there are packages").clone()
}

/// Returns the texts of a list in `deny.toml`.
fn rule(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml can be read");
    let (_, list) = text.split_once(&format!("\n{name} = [")).unwrap_or_else(|| panic!("there is a list `{name}`"));
    let (list, _) = list.split_once(']').expect("the list ends");
    list.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// A reader of licences: `(MIT OR Apache-2.0) AND Unicode-3.0`; older manifests write `/` for `OR`.
struct Licence<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl Licence<'_> {
    /// Returns whether the allowed licences are enough for an expression.
    fn is_met(expression: &str, allowed: &[String]) -> bool {
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut licence = Licence { words: spaced.split_whitespace().collect(), at: 0, allowed };
        let is_met = licence.any();
        is_met && licence.at == licence.words.len()
    }

    fn eat(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is_next);
        is_next
    }

    fn any(&mut self) -> bool {
        let mut is_met = self.all();
        while self.eat("OR") {
            is_met |= self.all();
        }
        is_met
    }

    fn all(&mut self) -> bool {
        let mut is_met = self.one();
        while self.eat("AND") {
            is_met &= self.one();
        }
        is_met
    }

    fn one(&mut self) -> bool {
        if self.eat("(") {
            let is_met = self.any();
            return self.eat(")") && is_met;
        }
        let mut name = self.words.get(self.at).copied().unwrap_or_default().to_string();
        self.at += 1;
        if self.eat("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.at).copied().unwrap_or_default());
            self.at += 1;
        }
        self.allowed.contains(&name)
    }
}

#[test]
fn licences_are_read_as_they_are_written() {
    let allowed = ["MIT".to_string(), "Zlib".to_string()];
    for good in ["MIT", "GPL-3.0/MIT", "(GPL-3.0 OR MIT) AND Zlib", "GPL-3.0 AND X OR Zlib", "X WITH Y OR MIT"] {
        assert!(Licence::is_met(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR MIT) AND X", "MIT WITH Y", "MIT MIT", "(MIT"] {
        assert!(!Licence::is_met(bad, &allowed), "{bad}");
    }
}

#[test]
fn dependencies_have_licences_that_we_accept_and_come_from_the_registry() {
    let allowed = rule("allow");
    let packages = packages();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert!(Licence::is_met(licence, &allowed), "{name}: the licence `{licence}` is not in deny.toml");
        let is_ours = package["source"].is_null() && name.as_str().is_some_and(|name| name.starts_with("selvedge"));
        let source = package["source"].as_str().unwrap_or_default();
        let is_registry = source.starts_with("registry+") && source.ends_with("/crates.io-index");
        assert!(is_ours || is_registry, "{name} comes from `{source}`");
    }
}

#[test]
fn a_crate_has_one_version_unless_deny_toml_says_otherwise() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |field: &str| package[field].as_str().expect("packages have names and versions").to_string();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let skipped = rule("skip");
    let is_skipped = |name: &str, version: &str| {
        skipped.iter().any(|skip| {
            let (crate_name, prefix) = skip.split_once('@').expect("an entry has a version");
            crate_name == name && (version == prefix || version.starts_with(&format!("{prefix}.")))
        })
    };
    for (name, versions) in versions {
        let left: Vec<&String> = versions.iter().filter(|version| !is_skipped(&name, version)).collect();
        assert!(left.len() <= 1, "{name} is there in the versions {left:?}: see deny.toml");
    }
}
