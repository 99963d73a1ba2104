//! The list of findings that diagnostics report. Numbers are not reused.

mod integers;
mod meaning;
mod names;
mod syntax;

use crate::diagnostic::Severity;

/// Defines [`Code`]: each kind of finding with its stable number and its explanation.
macro_rules! codes {
    ($($code:ident $number:literal = $explanation:path;)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            /// All codes in the order of their numbers.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// Returns the stable number.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$code => $number,)*
                }
            }

            /// Returns the parts of the explanation.
            pub fn explanation(self) -> Explanation {
                match self {
                    $(Code::$code => $explanation,)*
                }
            }
        }
    };
}

codes! {
    StrayCharacter "SV0001" = syntax::STRAY_CHARACTER;
    UnterminatedComment "SV0002" = syntax::UNTERMINATED_COMMENT;
    UnexpectedToken "SV0003" = syntax::UNEXPECTED_TOKEN;
    Unclosed "SV0004" = syntax::UNCLOSED;
    MissingSemicolon "SV0005" = syntax::MISSING_SEMICOLON;
    BeyondLimit "SV0006" = syntax::BEYOND_LIMIT;
    NotTruthValue "SV0007" = syntax::NOT_TRUTH_VALUE;
    ReservedWord "SV0008" = syntax::RESERVED_WORD;
    MisplacedDeclaration "SV0009" = syntax::MISPLACED_DECLARATION;
    NumberOutOfRange "SV0010" = syntax::NUMBER_OUT_OF_RANGE;
    CallInExpression "SV0011" = syntax::CALL_IN_EXPRESSION;
    UnknownVariable "SV0012" = names::UNKNOWN_VARIABLE;
    UnknownProcedure "SV0013" = names::UNKNOWN_PROCEDURE;
    UnknownLabel "SV0014" = names::UNKNOWN_LABEL;
    ForeignLabel "SV0015" = names::FOREIGN_LABEL;
    UnknownThreadStart "SV0016" = names::UNKNOWN_THREAD_START;
    DuplicateVariable "SV0017" = names::DUPLICATE_VARIABLE;
    DuplicateLabel "SV0018" = names::DUPLICATE_LABEL;
    DuplicateProcedure "SV0019" = names::DUPLICATE_PROCEDURE;
    WrongValueCount "SV0020" = names::WRONG_VALUE_COUNT;
    WrongArgumentCount "SV0021" = names::WRONG_ARGUMENT_COUNT;
    WrongResultCount "SV0022" = names::WRONG_RESULT_COUNT;
    WrongReturnCount "SV0023" = names::WRONG_RETURN_COUNT;
    AssignedTwice "SV0024" = names::ASSIGNED_TWICE;
    MisplacedPrime "SV0025" = meaning::MISPLACED_PRIME;
    MisplacedPassive "SV0026" = meaning::MISPLACED_PASSIVE;
    PassiveShared "SV0027" = meaning::PASSIVE_SHARED;
    Unsupported "SV0028" = meaning::UNSUPPORTED;
    NoEntry "SV0029" = meaning::NO_ENTRY;
    MainBesideProcesses "SV0030" = meaning::MAIN_BESIDE_PROCESSES;
    ProcessWithoutMain "SV0031" = meaning::PROCESS_WITHOUT_MAIN;
    AsyncResults "SV0032" = meaning::ASYNC_RESULTS;
    EarlyRead "SV0033" = meaning::EARLY_READ;
    LateInitialiser "SV0034" = meaning::LATE_INITIALISER;
    ThreadVariableInInit "SV0035" = meaning::THREAD_VARIABLE_IN_INIT;
    NonLinear "SV0036" = integers::NON_LINEAR;
    WrongType "SV0037" = integers::WRONG_TYPE;
    OutsideRange "SV0038" = integers::OUTSIDE_RANGE;
    MisplacedNondet "SV0039" = integers::MISPLACED_NONDET;
    MisplacedGoto "SV0040" = integers::MISPLACED_GOTO;
    UnusedVariable "SV0101" = meaning::UNUSED_VARIABLE;
    UnusedLabel "SV0102" = meaning::UNUSED_LABEL;
    Unreachable "SV0103" = meaning::UNREACHABLE;
    ReturnWithoutValues "SV0104" = meaning::RETURN_WITHOUT_VALUES;
    FallsOffEnd "SV0105" = meaning::FALLS_OFF_END;
    MixedPrecedence "SV0106" = meaning::MIXED_PRECEDENCE;
}

impl Code {
    /// Returns the severity: errors have numbers below 100, warnings above.
    pub fn severity(self) -> Severity {
        if self < Code::UnusedVariable { Severity::Error } else { Severity::Warning }
    }

    /// Returns whether its examples are guarded commands rather than Boolean programs.
    pub fn is_about_commands(self) -> bool {
        (Code::NonLinear..=Code::MisplacedGoto).contains(&self)
    }

    /// Returns the title: a few words.
    pub fn title(self) -> &'static str {
        self.explanation().title
    }

    /// Returns the code with this number, ignoring case.
    pub fn from_number(number: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(number))
    }

    /// Returns the whole explanation as text: title, a paragraph, an incorrect program and a correct one.
    pub fn explain(self) -> String {
        let Explanation { title, text, wrong, right } = self.explanation();
        let number = self.as_str();
        format!("{number}: {title}\n\n{}\nIncorrect:\n\n{}\nCorrect:\n\n{}", wrap(text), indent(wrong), indent(right))
    }
}

/// The explanation of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// A few words.
    pub title: &'static str,
    /// A paragraph.
    pub text: &'static str,
    /// A program that has the finding.
    pub wrong: &'static str,
    /// The corrected program.
    pub right: &'static str,
}

/// Wraps a paragraph at 80 characters.
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
