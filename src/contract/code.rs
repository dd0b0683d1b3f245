//! The code table: every public error code, whether it is retryable, and what its message says.

use crate::invoke::{ArgumentFault, FailureKind};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $retry:literal;)+) => {
        /// Every public error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code, in the order of the table in `docs/errors.md`.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The code on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Whether the same call may succeed when it is made again.
            pub fn retryable(self) -> bool {
                match self { $(Self::$name => $retry,)+ }
            }

            /// What the code means, in the words of its documentation.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc, "\n",)+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// No tool of this name is there for the caller.
    UnknownTool => "unknown_tool", false;
    /// The tool can be found and loaded, but its call cannot be made.
    NotInvocable => "not_invocable", false;
    /// An argument the tool does not have, or of a kind it does not take.
    UnknownArgument => "unknown_argument", false;
    /// A path value that would leave its segment or has no text form.
    InvalidPathType => "invalid_path_type", false;
    /// A path parameter without a value.
    MissingPathParameter => "missing_path_parameter", false;
    /// A header value with a line break or NUL.
    HeaderInjection => "header_injection", false;
    /// Null where the schema allows none.
    NullNotAllowed => "null_not_allowed", false;
    /// A value of a JSON kind that cannot be used there.
    InvalidType => "invalid_type", false;
    /// The source of a hidden argument gave nothing.
    DeferredValueMissing => "deferred_value_missing", false;
    /// The source of a hidden argument gave something that does not fit.
    DeferredValueInvalid => "deferred_value_invalid", false;
    /// A cookie argument holds what a cookie cannot.
    InvalidCookieValue => "invalid_cookie_value", false;
    /// A cookie argument is named like a cookie that carries a credential.
    CookieCarrierCollision => "cookie_carrier_collision", false;
    /// A file argument is not of the documented shape.
    InvalidFileArgument => "invalid_file_argument", false;
    /// Inline file bytes over the limit.
    FileTooLarge => "file_too_large", false;
    /// A file reference that leads nowhere the caller may go.
    FileUnresolved => "file_unresolved", false;
    /// The answer would be over the response byte budget.
    ResponseTooLarge => "response_too_large", false;
    /// The backend did not answer before the deadline.
    InvokeTimeout => "invoke_timeout", true;
    /// No ranker answered: the configured one failed, or too many searches were waiting.
    SearchRankerUnavailable => "search_ranker_unavailable", true;
    /// The definition is no longer the version the call was pinned to.
    ToolChanged => "tool_changed", false;
    /// A fault of the gateway itself.
    InternalError => "internal_error", false;
    /// The backend named arguments it does not accept.
    ValidationFailed => "validation_failed", false;
    /// The backend refused the request without naming an argument.
    BadRequest => "bad_request", false;
    /// The backend wants a caller it knows.
    Unauthenticated => "unauthenticated", false;
    /// The backend does not let this caller do it.
    Forbidden => "forbidden", false;
    /// The backend has no such thing.
    NotFound => "not_found", false;
    /// The backend's state does not allow it now.
    Conflict => "conflict", false;
    /// The backend wants fewer calls.
    RateLimited => "rate_limited", true;
    /// The backend failed.
    BackendError => "backend_error", false;
    /// The backend cannot be reached or is overloaded.
    BackendUnavailable => "backend_unavailable", true;
}

impl From<FailureKind> for Code {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::ValidationFailed => Self::ValidationFailed,
            FailureKind::BadRequest => Self::BadRequest,
            FailureKind::Unauthenticated => Self::Unauthenticated,
            FailureKind::Forbidden => Self::Forbidden,
            FailureKind::NotFound => Self::NotFound,
            FailureKind::Conflict => Self::Conflict,
            FailureKind::RateLimited => Self::RateLimited,
            FailureKind::BackendError => Self::BackendError,
            FailureKind::BackendUnavailable => Self::BackendUnavailable,
            FailureKind::Timeout => Self::InvokeTimeout,
        }
    }
}

impl From<ArgumentFault> for Code {
    fn from(fault: ArgumentFault) -> Self {
        match fault {
            ArgumentFault::UnknownArgument => Self::UnknownArgument,
            ArgumentFault::InvalidPathType => Self::InvalidPathType,
            ArgumentFault::MissingPathParameter => Self::MissingPathParameter,
            ArgumentFault::HeaderInjection => Self::HeaderInjection,
            ArgumentFault::NullNotAllowed => Self::NullNotAllowed,
            ArgumentFault::InvalidType => Self::InvalidType,
            ArgumentFault::InvalidCookieValue => Self::InvalidCookieValue,
            ArgumentFault::CookieCarrierCollision => Self::CookieCarrierCollision,
            ArgumentFault::InvalidFileArgument => Self::InvalidFileArgument,
            ArgumentFault::FileTooLarge => Self::FileTooLarge,
            ArgumentFault::DeferredValueMissing => Self::DeferredValueMissing,
            ArgumentFault::DeferredValueInvalid => Self::DeferredValueInvalid,
            ArgumentFault::NotInvocable => Self::NotInvocable,
        }
    }
}
