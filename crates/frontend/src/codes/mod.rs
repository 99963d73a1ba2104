//! The closed list of findings. A number is never given to another finding.

mod integers;
mod meaning;
mod names;
mod syntax;

use crate::diagnostic::Severity;

/// What kind of finding a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    StrayCharacter,
    UnterminatedComment,
    UnexpectedToken,
    Unclosed,
    MissingSemicolon,
    BeyondLimit,
    NotTruthValue,
    ReservedWord,
    MisplacedDeclaration,
    NumberOutOfRange,
    CallInExpression,
    UnknownVariable,
    UnknownProcedure,
    UnknownLabel,
    ForeignLabel,
    UnknownThreadStart,
    DuplicateVariable,
    DuplicateLabel,
    DuplicateProcedure,
    WrongValueCount,
    WrongArgumentCount,
    WrongResultCount,
    WrongReturnCount,
    AssignedTwice,
    MisplacedPrime,
    MisplacedPassive,
    PassiveShared,
    Unsupported,
    NoEntry,
    MainBesideProcesses,
    ProcessWithoutMain,
    AsyncResults,
    EarlyRead,
    LateInitialiser,
    ThreadVariableInInit,
    NonLinear,
    WrongType,
    OutsideRange,
    MisplacedNondet,
    MisplacedGoto,
    UnusedVariable,
    UnusedLabel,
    Unreachable,
    ReturnWithoutValues,
    FallsOffEnd,
    MixedPrecedence,
}

impl Code {
    /// All codes in the order of their numbers.
    pub const ALL: &[Code] = &[
        Code::StrayCharacter,
        Code::UnterminatedComment,
        Code::UnexpectedToken,
        Code::Unclosed,
        Code::MissingSemicolon,
        Code::BeyondLimit,
        Code::NotTruthValue,
        Code::ReservedWord,
        Code::MisplacedDeclaration,
        Code::NumberOutOfRange,
        Code::CallInExpression,
        Code::UnknownVariable,
        Code::UnknownProcedure,
        Code::UnknownLabel,
        Code::ForeignLabel,
        Code::UnknownThreadStart,
        Code::DuplicateVariable,
        Code::DuplicateLabel,
        Code::DuplicateProcedure,
        Code::WrongValueCount,
        Code::WrongArgumentCount,
        Code::WrongResultCount,
        Code::WrongReturnCount,
        Code::AssignedTwice,
        Code::MisplacedPrime,
        Code::MisplacedPassive,
        Code::PassiveShared,
        Code::Unsupported,
        Code::NoEntry,
        Code::MainBesideProcesses,
        Code::ProcessWithoutMain,
        Code::AsyncResults,
        Code::EarlyRead,
        Code::LateInitialiser,
        Code::ThreadVariableInInit,
        Code::NonLinear,
        Code::WrongType,
        Code::OutsideRange,
        Code::MisplacedNondet,
        Code::MisplacedGoto,
        Code::UnusedVariable,
        Code::UnusedLabel,
        Code::Unreachable,
        Code::ReturnWithoutValues,
        Code::FallsOffEnd,
        Code::MixedPrecedence,
    ];

    /// Returns the stable number.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::StrayCharacter => "SV0001",
            Code::UnterminatedComment => "SV0002",
            Code::UnexpectedToken => "SV0003",
            Code::Unclosed => "SV0004",
            Code::MissingSemicolon => "SV0005",
            Code::BeyondLimit => "SV0006",
            Code::NotTruthValue => "SV0007",
            Code::ReservedWord => "SV0008",
            Code::MisplacedDeclaration => "SV0009",
            Code::NumberOutOfRange => "SV0010",
            Code::CallInExpression => "SV0011",
            Code::UnknownVariable => "SV0012",
            Code::UnknownProcedure => "SV0013",
            Code::UnknownLabel => "SV0014",
            Code::ForeignLabel => "SV0015",
            Code::UnknownThreadStart => "SV0016",
            Code::DuplicateVariable => "SV0017",
            Code::DuplicateLabel => "SV0018",
            Code::DuplicateProcedure => "SV0019",
            Code::WrongValueCount => "SV0020",
            Code::WrongArgumentCount => "SV0021",
            Code::WrongResultCount => "SV0022",
            Code::WrongReturnCount => "SV0023",
            Code::AssignedTwice => "SV0024",
            Code::MisplacedPrime => "SV0025",
            Code::MisplacedPassive => "SV0026",
            Code::PassiveShared => "SV0027",
            Code::Unsupported => "SV0028",
            Code::NoEntry => "SV0029",
            Code::MainBesideProcesses => "SV0030",
            Code::ProcessWithoutMain => "SV0031",
            Code::AsyncResults => "SV0032",
            Code::EarlyRead => "SV0033",
            Code::LateInitialiser => "SV0034",
            Code::ThreadVariableInInit => "SV0035",
            Code::NonLinear => "SV0036",
            Code::WrongType => "SV0037",
            Code::OutsideRange => "SV0038",
            Code::MisplacedNondet => "SV0039",
            Code::MisplacedGoto => "SV0040",
            Code::UnusedVariable => "SV0101",
            Code::UnusedLabel => "SV0102",
            Code::Unreachable => "SV0103",
            Code::ReturnWithoutValues => "SV0104",
            Code::FallsOffEnd => "SV0105",
            Code::MixedPrecedence => "SV0106",
        }
    }

    /// Errors have numbers below 100, warnings above.
    pub fn severity(self) -> Severity {
        if self < Code::UnusedVariable { Severity::Error } else { Severity::Warning }
    }

    /// Returns whether its examples are guarded commands, and not Boolean programs.
    pub fn is_about_commands(self) -> bool {
        (Code::NonLinear..=Code::MisplacedGoto).contains(&self)
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        self.explanation().title
    }

    /// Returns the code with this number, in any case.
    pub fn from_number(number: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(number))
    }

    /// Returns the whole explanation as text: title, a paragraph, an incorrect and a correct program.
    pub fn explain(self) -> String {
        let Explanation { title, text, wrong, right } = self.explanation();
        let number = self.as_str();
        format!("{number}: {title}\n\n{}\nIncorrect:\n\n{}\nCorrect:\n\n{}", wrap(text), indent(wrong), indent(right))
    }

    /// Returns the parts of the explanation.
    pub fn explanation(self) -> Explanation {
        match self {
            Code::StrayCharacter => syntax::STRAY_CHARACTER,
            Code::UnterminatedComment => syntax::UNTERMINATED_COMMENT,
            Code::UnexpectedToken => syntax::UNEXPECTED_TOKEN,
            Code::Unclosed => syntax::UNCLOSED,
            Code::MissingSemicolon => syntax::MISSING_SEMICOLON,
            Code::BeyondLimit => syntax::BEYOND_LIMIT,
            Code::NotTruthValue => syntax::NOT_TRUTH_VALUE,
            Code::ReservedWord => syntax::RESERVED_WORD,
            Code::MisplacedDeclaration => syntax::MISPLACED_DECLARATION,
            Code::NumberOutOfRange => syntax::NUMBER_OUT_OF_RANGE,
            Code::CallInExpression => syntax::CALL_IN_EXPRESSION,
            Code::UnknownVariable => names::UNKNOWN_VARIABLE,
            Code::UnknownProcedure => names::UNKNOWN_PROCEDURE,
            Code::UnknownLabel => names::UNKNOWN_LABEL,
            Code::ForeignLabel => names::FOREIGN_LABEL,
            Code::UnknownThreadStart => names::UNKNOWN_THREAD_START,
            Code::DuplicateVariable => names::DUPLICATE_VARIABLE,
            Code::DuplicateLabel => names::DUPLICATE_LABEL,
            Code::DuplicateProcedure => names::DUPLICATE_PROCEDURE,
            Code::WrongValueCount => names::WRONG_VALUE_COUNT,
            Code::WrongArgumentCount => names::WRONG_ARGUMENT_COUNT,
            Code::WrongResultCount => names::WRONG_RESULT_COUNT,
            Code::WrongReturnCount => names::WRONG_RETURN_COUNT,
            Code::AssignedTwice => names::ASSIGNED_TWICE,
            Code::MisplacedPrime => meaning::MISPLACED_PRIME,
            Code::MisplacedPassive => meaning::MISPLACED_PASSIVE,
            Code::PassiveShared => meaning::PASSIVE_SHARED,
            Code::Unsupported => meaning::UNSUPPORTED,
            Code::NoEntry => meaning::NO_ENTRY,
            Code::MainBesideProcesses => meaning::MAIN_BESIDE_PROCESSES,
            Code::ProcessWithoutMain => meaning::PROCESS_WITHOUT_MAIN,
            Code::AsyncResults => meaning::ASYNC_RESULTS,
            Code::EarlyRead => meaning::EARLY_READ,
            Code::LateInitialiser => meaning::LATE_INITIALISER,
            Code::ThreadVariableInInit => meaning::THREAD_VARIABLE_IN_INIT,
            Code::NonLinear => integers::NON_LINEAR,
            Code::WrongType => integers::WRONG_TYPE,
            Code::OutsideRange => integers::OUTSIDE_RANGE,
            Code::MisplacedNondet => integers::MISPLACED_NONDET,
            Code::MisplacedGoto => integers::MISPLACED_GOTO,
            Code::UnusedVariable => meaning::UNUSED_VARIABLE,
            Code::UnusedLabel => meaning::UNUSED_LABEL,
            Code::Unreachable => meaning::UNREACHABLE,
            Code::ReturnWithoutValues => meaning::RETURN_WITHOUT_VALUES,
            Code::FallsOffEnd => meaning::FALLS_OFF_END,
            Code::MixedPrecedence => meaning::MIXED_PRECEDENCE,
        }
    }
}

/// What a finding means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// A few words.
    pub title: &'static str,
    /// A paragraph.
    pub text: &'static str,
    /// A program that has the finding.
    pub wrong: &'static str,
    /// The program without it.
    pub right: &'static str,
}

/// Returns the paragraph in lines of at most 80 characters.
fn wrap(text: &str) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / 60);
    let mut width = 0;
    for word in text.split(' ') {
        if width > 0 && width + 1 + word.len() > 80 {
            wrapped.push('\n');
            width = 0;
        } else if width > 0 {
            wrapped.push(' ');
            width += 1;
        }
        wrapped.push_str(word);
        width += word.len();
    }
    wrapped.push('\n');
    wrapped
}

fn indent(program: &str) -> String {
    program.lines().map(|line| format!("    {line}\n")).collect()
}
