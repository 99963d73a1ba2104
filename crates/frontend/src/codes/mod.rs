//! The list of findings that diagnostics report. Numbers are not reused.
//!
//! The file `SVnnnn.txt` beside this one explains a finding as `selvedge explain` prints it: a title, a paragraph, a
//! program that has the finding, and the corrected program.

use crate::diagnostic::Severity;

/// Defines [`Code`]: each kind of finding with its stable number, which names the file of its explanation.
macro_rules! codes {
    ($($code:ident $number:literal;)*) => {
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

            /// Returns the whole explanation as text.
            pub fn explain(self) -> &'static str {
                match self {
                    $(Code::$code => include_str!(concat!($number, ".txt")),)*
                }
            }
        }
    };
}

codes! {
    StrayCharacter "SV0001";
    UnterminatedComment "SV0002";
    UnexpectedToken "SV0003";
    Unclosed "SV0004";
    MissingSemicolon "SV0005";
    BeyondLimit "SV0006";
    NotTruthValue "SV0007";
    ReservedWord "SV0008";
    MisplacedDeclaration "SV0009";
    NumberOutOfRange "SV0010";
    CallInExpression "SV0011";
    UnknownVariable "SV0012";
    UnknownProcedure "SV0013";
    UnknownLabel "SV0014";
    ForeignLabel "SV0015";
    UnknownThreadStart "SV0016";
    DuplicateVariable "SV0017";
    DuplicateLabel "SV0018";
    DuplicateProcedure "SV0019";
    WrongValueCount "SV0020";
    WrongArgumentCount "SV0021";
    WrongResultCount "SV0022";
    WrongReturnCount "SV0023";
    AssignedTwice "SV0024";
    MisplacedPrime "SV0025";
    MisplacedPassive "SV0026";
    PassiveShared "SV0027";
    Unsupported "SV0028";
    NoEntry "SV0029";
    MainBesideProcesses "SV0030";
    ProcessWithoutMain "SV0031";
    AsyncResults "SV0032";
    EarlyRead "SV0033";
    LateInitialiser "SV0034";
    ThreadVariableInInit "SV0035";
    NonLinear "SV0036";
    WrongType "SV0037";
    OutsideRange "SV0038";
    MisplacedNondet "SV0039";
    MisplacedGoto "SV0040";
    RelationalUpdate "SV0041";
    FileOption "SV0042";
    OtherLanguage "SV0043";
    TruthOrNumber "SV0044";
    UnusedVariable "SV0101";
    UnusedLabel "SV0102";
    Unreachable "SV0103";
    ReturnWithoutValues "SV0104";
    FallsOffEnd "SV0105";
    MixedPrecedence "SV0106";
    TrapInSection "SV0107";
    UnusedProcedure "SV0108";
    MisplacedOptions "SV0109";
    AtomicVariable "SV0201";
    CMayEnd "SV0202";
    CInclude "SV0301";
    CDirective "SV0302";
    CMacro "SV0303";
    CUnsupported "SV0304";
    CUndeclared "SV0305";
    CRedeclared "SV0306";
    CWrongType "SV0307";
    CIncomplete "SV0308";
    CNotAssignable "SV0309";
    CArguments "SV0310";
    CNoMember "SV0311";
    CNotConstant "SV0312";
    CInitialiser "SV0313";
    CLabel "SV0314";
    CMisplaced "SV0315";
    CLiteral "SV0316";
    CDeclaration "SV0317";
    CStaticAssert "SV0318";
    CImplicitFunction "SV0401";
    CConversion "SV0402";
    CMacroRedefined "SV0403";
    CWarning "SV0404";
    COverflow "SV0405";
    CReturnValue "SV0406";
    CMemoryOrder "SV0407";
    CAnnotation "SV0408";
}

impl Code {
    /// Returns the severity: errors have numbers below 100, warnings below 200, and notes below 300. Errors about C
    /// have numbers below 400, warnings below 500.
    pub fn severity(self) -> Severity {
        match self {
            _ if self < Code::UnusedVariable => Severity::Error,
            _ if self < Code::AtomicVariable => Severity::Warning,
            _ if self < Code::CInclude => Severity::Note,
            _ if self < Code::CImplicitFunction => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// Returns whether its examples are C programs.
    pub fn is_about_c(self) -> bool {
        self >= Code::CMayEnd
    }

    /// Returns whether its examples are guarded commands rather than Boolean programs.
    pub fn is_about_commands(self) -> bool {
        (Code::NonLinear..=Code::MisplacedGoto).contains(&self)
    }

    /// Returns the title: a few words.
    pub fn title(self) -> &'static str {
        let first = self.explain().lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}
