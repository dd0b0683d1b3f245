//! The request template: how an operation's arguments become an HTTP request. Data only; `invoke` composes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json;

/// How a call is composed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTemplate {
    /// The key of the document the operation came from; groups backend limits and metrics.
    pub document: String,
    /// The HTTP method as it is sent (`GET`, `QUERY`, …).
    pub method: String,
    /// The absolute URL that routes are appended to, without a trailing slash; none when the document
    /// names no usable server and the operator gave no base URL.
    pub base_url: Option<String>,
    /// The route template, such as `/orders/{id}`.
    pub route: String,
    /// Path, query, header and cookie parameters, in declaration order.
    pub parameters: Vec<Parameter>,
    /// The body, when the operation takes one.
    pub body: Option<Body>,
    /// The media types the operation declares for its successes, for the Accept header; may be empty.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// Arguments of the parameters and the body that are not the agent's to give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Hidden>,
}

/// An argument that is filled from elsewhere, or never. Its parameter or member stays in the template: its name
/// at the backend is taken, and no other argument may set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// The argument as its parameter or member names it; no visible argument has this name.
    pub argument: String,
    /// What fills it.
    pub value: HiddenValue,
}

/// What fills a hidden argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HiddenValue {
    /// Always this value.
    Constant(#[serde(deserialize_with = "json::stored")] Value),
    /// A claim of the caller's identity.
    Claim(String),
    /// A header of the caller's request.
    Header(String),
    /// Nothing is sent.
    Nothing,
}

impl RequestTemplate {
    /// Every argument with the name the backend knows it by, parameters first.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = match self.body.as_ref().map(|body| &body.shape) {
            Some(BodyShape::Members { members, .. }) => members.as_slice(),
            Some(BodyShape::Whole(member)) => std::slice::from_ref(member),
            None => &[],
        };
        let parameters = self.parameters.iter();
        parameters
            .map(|one| (one.argument.as_str(), one.name.as_str()))
            .chain(
                members
                    .iter()
                    .map(|one| (one.argument.as_str(), one.name.as_str())),
            )
    }

    /// Whether an argument of the template is not the agent's to give.
    pub fn is_hidden(&self, argument: &str) -> bool {
        self.hidden.iter().any(|one| one.argument == argument)
    }
}

/// One parameter outside the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// What the agent calls it: the root property of the input schema.
    pub argument: String,
    /// What the backend calls it.
    pub name: String,
    /// Where it travels.
    pub location: Location,
    /// How values of more than one part are written.
    pub style: Style,
    /// Whether each part of a value travels on its own.
    pub explode: bool,
    /// Whether RFC 3986 reserved characters stay unencoded.
    #[serde(default)]
    pub allow_reserved: bool,
    /// A `content` parameter: the value is serialized as this media type (JSON) and written as one string.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Whether the document requires it.
    #[serde(default)]
    pub required: bool,
    /// Whether the schema allows null.
    #[serde(default)]
    pub nullable: bool,
}

/// Where a parameter travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Location {
    /// A `{name}` of the route.
    Path,
    /// The query string.
    Query,
    /// A request header.
    Header,
    /// A cookie.
    Cookie,
}

/// How a parameter's value is written (OpenAPI 3 styles, and Swagger 2's separators).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `a,b` in paths and headers.
    Simple,
    /// `.a.b` in paths.
    Label,
    /// `;name=a;name=b` in paths.
    Matrix,
    /// `name=a&name=b`, or `name=a,b` unexploded, in queries and cookies.
    Form,
    /// `name=a%20b` in queries.
    SpaceDelimited,
    /// `name=a%7Cb` in queries.
    PipeDelimited,
    /// `name[key]=a` in queries.
    DeepObject,
    /// Swagger 2 collections with a separator other than the above.
    Collection(CollectionSeparator),
}

/// Separators of Swagger 2's `collectionFormat` that no OpenAPI 3 style has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CollectionSeparator {
    /// `csv` outside paths and headers is form unexploded; this is `ssv`: a space.
    Space,
    /// `tsv`: a tab.
    Tab,
    /// `pipes`: a vertical bar.
    Pipe,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The media type it is sent as.
    pub media_type: String,
    /// How arguments fill it.
    pub shape: BodyShape,
    /// Whether the document requires a body.
    #[serde(default)]
    pub required: bool,
}

/// How arguments fill a JSON body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BodyShape {
    /// The body is an object; each member is an argument of its own.
    Members {
        /// The members the schema declares, in order.
        members: Vec<Member>,
        /// Whether arguments the tool does not declare travel as further members.
        open: bool,
    },
    /// The body is one argument, whatever it holds.
    Whole(Member),
}

/// One argument that becomes a body member (or the whole body).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What the agent calls it.
    pub argument: String,
    /// What the backend calls it.
    pub name: String,
    /// Whether the schema allows null.
    #[serde(default)]
    pub nullable: bool,
    /// Whether the body schema requires it.
    #[serde(default)]
    pub required: bool,
}
