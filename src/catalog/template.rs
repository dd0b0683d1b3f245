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
    /// Query parameters and cookies that carry credentials, by their names at the backend: no value sets one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carriers: Vec<Carrier>,
    /// Arguments of the parameters and the body that are not the agent's to give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Hidden>,
}

/// Where a credential travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    /// The query or a cookie.
    pub location: Location,
    /// The name there.
    pub name: String,
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
        let members = self.body.iter().flat_map(|body| body.shape.arguments());
        self.parameters
            .iter()
            .map(|one| (one.argument.as_str(), one.name.as_str()))
            .chain(members.map(|one| (one.argument.as_str(), one.name.as_str())))
    }

    /// The names in a location that carry credentials.
    pub fn carriers_in(&self, location: Location) -> impl Iterator<Item = &str> {
        self.carriers
            .iter()
            .filter(move |one| one.location == location)
            .map(|one| one.name.as_str())
    }

    /// What the backend calls the arguments that are not the agent's to give.
    pub fn hidden_names(&self) -> impl Iterator<Item = &str> {
        self.named()
            .filter(|(argument, _)| self.is_hidden(argument))
            .map(|(_, name)| name)
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
    /// A `content` parameter: the value is serialized as this media type (JSON, a form or plain text) and
    /// written as one string.
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
    /// The whole query string (`in: querystring` of OpenAPI 3.2).
    #[serde(rename = "querystring")]
    QueryString,
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
    /// `name=a` in cookies, nothing encoded (OpenAPI 3.2).
    Cookie,
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
    /// Members that are the backend's to set (`readOnly`): an open body takes no argument of such a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

/// How arguments fill the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BodyShape {
    /// The body is a JSON object; each member is an argument of its own.
    Members {
        /// The members the schema declares, in order.
        members: Vec<Member>,
        /// Whether arguments the tool does not declare travel as further members.
        open: bool,
    },
    /// The body is one argument as JSON, whatever it holds.
    Whole(Member),
    /// `application/x-www-form-urlencoded`.
    Form(Fields),
    /// `multipart/form-data`.
    Multipart(Fields),
    /// The body is the bytes of one file argument.
    File {
        /// The argument.
        member: Member,
        /// The media types the file may have, as declared; see [`Field::content_types`].
        content_types: Vec<String>,
    },
    /// The body is one string argument, sent as it is.
    Text(Member),
}

impl BodyShape {
    /// The arguments of the tool that fill the body.
    pub fn arguments(&self) -> Vec<&Member> {
        match self {
            Self::Members { members, .. } => members.iter().collect(),
            Self::Form(fields) | Self::Multipart(fields) => match &fields.within {
                Some(whole) => vec![whole],
                None => fields.fields.iter().map(|field| &field.member).collect(),
            },
            Self::Whole(member) | Self::Text(member) | Self::File { member, .. } => vec![member],
        }
    }

    /// The same, to be changed.
    pub fn arguments_mut(&mut self) -> Vec<&mut Member> {
        match self {
            Self::Members { members, .. } => members.iter_mut().collect(),
            Self::Form(fields) | Self::Multipart(fields) => match &mut fields.within {
                Some(whole) => vec![whole],
                None => fields
                    .fields
                    .iter_mut()
                    .map(|field| &mut field.member)
                    .collect(),
            },
            Self::Whole(member) | Self::Text(member) | Self::File { member, .. } => vec![member],
        }
    }

    /// Whether arguments that the tool does not declare travel too.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Members { open, .. } => *open,
            Self::Form(fields) | Self::Multipart(fields) => fields.within.is_none() && fields.open,
            Self::Whole(_) | Self::Text(_) | Self::File { .. } => false,
        }
    }
}

/// The fields of a form or of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// The fields the schema declares, in order.
    pub fields: Vec<Field>,
    /// Whether further fields travel.
    pub open: bool,
    /// Whether objects in further fields are file arguments.
    #[serde(default)]
    pub further: FileUse,
    /// The one object argument that holds all fields, where they are no arguments of their own.
    #[serde(default)]
    pub within: Option<Member>,
}

/// One field of a form or one part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The argument and the field's name; a member of the one object argument where there is one.
    pub member: Member,
    /// How values of more than one part are written; none: by their kind, see [`Self::content_types`].
    #[serde(default)]
    pub style: Option<Style>,
    /// Whether each part of a value travels on its own, where there is a style.
    #[serde(default)]
    pub explode: bool,
    /// Whether RFC 3986 reserved characters stay unencoded.
    #[serde(default)]
    pub allow_reserved: bool,
    /// The media types a part may have, as declared (ranges included). Empty: plain values are text, objects
    /// JSON, and files of any type.
    #[serde(default)]
    pub content_types: Vec<String>,
    /// Whether objects are file arguments.
    #[serde(default)]
    pub file: FileUse,
    /// Further headers of the part, whose values the document fixes.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
}

/// Whether a field's objects are file arguments; a list of them is several files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileUse {
    /// They are plain objects.
    #[default]
    Never,
    /// A file is the only thing the field takes.
    Only,
    /// Plain values are taken too, and objects of another shape are no files.
    Beside,
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
