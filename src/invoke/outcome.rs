//! What became of a call, in types that hold nothing of a backend but what passed the leak filter.

use serde_json::Value;

/// A text that may reach an agent: one of the project's own sentences, or backend text that passed the
/// leak filter. The field is private to `invoke`; nothing else makes one out of backend text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered(pub(in crate::invoke) String);

impl Filtered {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What became of a call that was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The backend answered below 400.
    Answer(Answer),
    /// The backend's body passed the budget and was not kept.
    Oversize(Oversize),
    /// The backend refused or failed, or could not be reached in time.
    Failed(Failure),
}

/// A successful answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, when there was one.
    pub body: Option<AnswerBody>,
    /// The media type, for bodies forwarded as text.
    pub content_type: Option<String>,
    /// The Location header, filtered.
    pub location: Option<Filtered>,
}

/// A body that is forwarded or described.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerBody {
    /// Parsed JSON, digits kept.
    Json(Value),
    /// Other text.
    Text(String),
    /// Not forwarded, only described.
    Binary {
        /// Size in bytes.
        bytes: u64,
        /// The media type the backend gave, or `application/octet-stream`.
        media_type: String,
        /// SHA-256 of the bytes, lowercase hex.
        sha256: String,
    },
}

/// A body over the budget: its size and shape, none of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oversize {
    /// Size of the (decompressed) body in bytes, as far as it was read.
    pub bytes: u64,
    /// Whether reading stopped at the ceiling, so that the body is over `bytes`.
    pub over: bool,
    /// What the body is.
    pub shape: Shape,
}

/// The outermost shape of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A JSON array with this many elements.
    Array(u64),
    /// A JSON object with this many members.
    Object(u64),
    /// Anything else.
    Text,
}

/// A call that failed at or before the backend's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which kind; the contract's code table names it on the wire and says whether it is retryable.
    pub kind: FailureKind,
    /// What happened, for the agent.
    pub message: Filtered,
    /// The HTTP status, where there is one (502 when the backend was not reached).
    pub status: Option<u16>,
    /// Faults of single arguments.
    pub fields: Vec<FieldError>,
    /// Seconds the backend asked to wait.
    pub retry_after_seconds: Option<u64>,
    /// An id under which the backend's people find the call.
    pub reference: Option<String>,
}

/// The kinds of failure of a call that was sent (invoke.md, "Map").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// 400 or 422 with field errors or a list of messages.
    ValidationFailed,
    /// 400 and other 4xx without.
    BadRequest,
    /// 401.
    Unauthenticated,
    /// 403.
    Forbidden,
    /// 404, 410.
    NotFound,
    /// 409, 412, 428.
    Conflict,
    /// 429.
    RateLimited,
    /// 500, 501, other 5xx.
    BackendError,
    /// 502, 503, 504, 408, and no connection at all.
    BackendUnavailable,
    /// The deadline passed.
    Timeout,
}

/// One argument's fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The argument as the agent knows it; none where it must not be named.
    pub name: Option<String>,
    /// What is wrong with it.
    pub message: Filtered,
}

/// Arguments that cannot be composed; nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ArgumentError {
    /// Which rule was broken.
    pub fault: ArgumentFault,
    /// What is wrong and what to change, naming the argument.
    pub message: String,
    /// The arguments at fault, where the message is about particular ones.
    pub fields: Vec<(String, String)>,
}

/// The rules of composition (invoke.md, "Compose").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentFault {
    /// The tool has no argument of this name.
    UnknownArgument,
    /// A path value is of a wrong JSON type, empty, a dot segment, or holds a line break.
    InvalidPathType,
    /// A path parameter has no value.
    MissingPathParameter,
    /// A header value holds CR, LF or NUL.
    HeaderInjection,
    /// Null where the schema allows none.
    NullNotAllowed,
    /// A value no wire form can carry.
    InvalidType,
    /// A cookie value holds what a cookie cannot.
    InvalidCookieValue,
    /// A cookie would be named like one that carries a credential.
    CookieCarrierCollision,
    /// A file argument is not of the documented shape.
    InvalidFileArgument,
    /// The files of the call are over the limit.
    FileTooLarge,
    /// The source of a hidden argument gave nothing.
    DeferredValueMissing,
    /// The source of a hidden argument gave what does not fit.
    DeferredValueInvalid,
    /// The operation has no server, or its call cannot be composed at all.
    NotInvocable,
}
