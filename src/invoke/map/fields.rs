//! A backend's field names become what the agent calls them. Must never name what the agent cannot set.

use super::shapes::Field;
use crate::catalog::{BodyShape, Fields, Location, RequestTemplate};
use crate::invoke::leak;

/// The longest field name that is forwarded, in characters.
const NAME_CHARS_MAX: usize = 100;

/// One argument as both sides call it.
struct Known<'a> {
    argument: &'a str,
    name: &'a str,
    /// None: the body.
    location: Option<Location>,
    /// Whether the agent does not know of it.
    is_hidden: bool,
}

/// The path of a field whose first part is an argument.
enum Found {
    /// As the agent calls it.
    Told(String),
    /// Nothing the agent may be told of.
    Hidden,
}

impl Found {
    fn told(self) -> Option<String> {
        match self {
            Self::Told(path) => tellable(path),
            Self::Hidden => None,
        }
    }
}

/// The names of a template.
pub(super) struct Names<'a> {
    known: Vec<Known<'a>>,
    /// The argument that is the whole body, and whether it is hidden.
    whole: Option<(&'a str, bool)>,
}

impl<'a> Names<'a> {
    pub(super) fn of(template: &'a RequestTemplate) -> Self {
        let mut known = Vec::new();
        let mut whole = None;
        match template.body.as_ref().map(|body| &body.shape) {
            Some(
                BodyShape::Whole(member)
                | BodyShape::Text(member)
                | BodyShape::File { member, .. }
                | BodyShape::Form(Fields {
                    within: Some(member),
                    ..
                })
                | BodyShape::Multipart(Fields {
                    within: Some(member),
                    ..
                }),
            ) => {
                whole = Some((
                    member.argument.as_str(),
                    template.is_hidden(&member.argument),
                ));
            }
            Some(shape) => known.extend(shape.arguments().into_iter().map(|member| Known {
                argument: &member.argument,
                name: &member.name,
                location: None,
                is_hidden: template.is_hidden(&member.argument),
            })),
            None => {}
        }
        known.extend(template.parameters.iter().map(|parameter| Known {
            argument: &parameter.argument,
            name: &parameter.name,
            location: Some(parameter.location),
            is_hidden: template.is_hidden(&parameter.argument),
        }));
        Self { known, whole }
    }

    /// What the agent calls the field, as far as it may be told.
    pub(super) fn resolve(&self, field: &Field, message: &str) -> Option<String> {
        match field {
            Field::None => None,
            Field::FirstWord => {
                let word = message.split_whitespace().next().unwrap_or_default();
                let word = word.trim_matches(['"', '\'', '`', ':', ',']);
                self.known_path(None, &split(word)).and_then(Found::told)
            }
            Field::Text(text) => self.path(None, &split(text)),
            Field::Parts { place, parts } => self.path(place.as_deref(), parts),
        }
    }

    fn path(&self, place: Option<&str>, parts: &[String]) -> Option<String> {
        let known = self.known_path(place, parts).or_else(|| {
            // `body.qty`, `request.qty`, and JSON:API's `data.attributes.qty`.
            let wrapped = match parts {
                [data, kind, rest @ ..]
                    if data == "data" && (kind == "attributes" || kind == "relationships") =>
                {
                    rest
                }
                [wrapper, rest @ ..]
                    if ["body", "query", "path", "params", "request", "dto", "input"]
                        .iter()
                        .any(|one| wrapper.eq_ignore_ascii_case(one)) =>
                {
                    rest
                }
                _ => return None,
            };
            self.known_path(place, wrapped)
        });
        let found = known.unwrap_or_else(|| match self.whole {
            // Inside a body that is one argument.
            Some((_, true)) if matches!(place, None | Some("body")) => Found::Hidden,
            Some((argument, false)) if matches!(place, None | Some("body")) => {
                let all: Vec<&str> = std::iter::once(argument)
                    .chain(parts.iter().map(String::as_str))
                    .collect();
                Found::Told(all.join("."))
            }
            _ => Found::Told(parts.join(".")),
        });
        found.told()
    }

    /// The path with its first part translated, when that is the name of an argument.
    fn known_path(&self, place: Option<&str>, parts: &[String]) -> Option<Found> {
        let (first, rest) = parts.split_first()?;
        let (argument, is_hidden) = self.argument(place, first)?;
        if is_hidden {
            return Some(Found::Hidden);
        }
        let all: Vec<&str> = std::iter::once(argument)
            .chain(rest.iter().map(String::as_str))
            .collect();
        Some(Found::Told(all.join(".")))
    }

    /// The argument of a name, and whether it is hidden.
    ///
    /// Exactly as written first, then ignoring case; by the backend's names first, then the agent's.
    fn argument(&self, place: Option<&str>, name: &str) -> Option<(&'a str, bool)> {
        let fits = |known: &&Known<'a>| match place {
            None => true,
            Some("body") => known.location.is_none(),
            Some("query") => matches!(
                known.location,
                Some(Location::Query | Location::QueryString)
            ),
            Some("path") => known.location == Some(Location::Path),
            Some("header") => known.location == Some(Location::Header),
            Some(_) => known.location == Some(Location::Cookie),
        };
        let candidates = || self.known.iter().filter(fits);
        let folded = name.to_lowercase();
        candidates()
            .find(|known| known.name == name)
            .or_else(|| candidates().find(|known| known.name.to_lowercase() == folded))
            .or_else(|| candidates().find(|known| known.argument.to_lowercase() == folded))
            .map(|known| (known.argument, known.is_hidden))
            .or_else(|| self.whole.filter(|(whole, _)| *whole == name))
    }
}

/// Splits `$.items[0].qty`, `items.0.qty`, `#/items/0/qty` and `/items/0/qty` into parts.
fn split(text: &str) -> Vec<String> {
    let text = text.trim();
    if let Some(pointer) = text.strip_prefix("#/").or_else(|| text.strip_prefix('/')) {
        return pointer
            .split('/')
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
    }
    text.strip_prefix("$.")
        .or_else(|| text.strip_prefix('$'))
        .unwrap_or(text)
        .split(['.', '[', ']'])
        .map(|part| part.trim_matches(['"', '\'']))
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A name that may be shown: short, on one line, and nothing that the leak filter drops.
fn tellable(name: String) -> Option<String> {
    let fits = !name.is_empty()
        && name.chars().count() <= NAME_CHARS_MAX
        && !name.chars().any(char::is_control)
        && leak::find(&name).is_none();
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Body, Member, Parameter, Style};

    fn parameter(argument: &str, name: &str, location: Location) -> Parameter {
        Parameter {
            argument: argument.to_owned(),
            name: name.to_owned(),
            location,
            style: Style::Form,
            explode: true,
            allow_reserved: false,
            content_type: None,
            required: false,
            nullable: false,
        }
    }

    fn member(argument: &str, name: &str) -> Member {
        Member {
            argument: argument.to_owned(),
            name: name.to_owned(),
            nullable: false,
            required: false,
        }
    }

    fn template(shape: BodyShape) -> RequestTemplate {
        RequestTemplate {
            document: "shop".to_owned(),
            method: "POST".to_owned(),
            base_url: None,
            route: "/".to_owned(),
            parameters: vec![
                parameter("id", "id", Location::Path),
                parameter("id_query", "id", Location::Query),
                parameter("size", "page[size]", Location::Query),
            ],
            body: Some(Body {
                media_type: "application/json".to_owned(),
                shape,
                required: true,
                withheld: Vec::new(),
            }),
            accepts: vec![],
            carriers: Vec::new(),
            hidden: Vec::new(),
        }
    }

    #[test]
    fn names_come_back_as_the_agent_knows_them() {
        let members = template(BodyShape::Members {
            members: vec![
                member("quantity", "qty"),
                member("items", "items"),
                member("data", "data"),
            ],
            open: false,
        });
        let names = Names::of(&members);
        for (text, want) in [
            ("qty", Some("quantity")),
            ("Qty", Some("quantity")),
            ("$.qty", Some("quantity")),
            ("body.qty", Some("quantity")),
            ("Quantity", Some("quantity")),
            ("items[0].qty", Some("items.0.qty")),
            ("Items.0.Qty", Some("items.0.Qty")),
            ("#/items/0", Some("items.0")),
            ("/data/attributes/x", Some("data.attributes.x")),
            ("other", Some("other")),
            ("", None),
            ("a\nb", None),
            ("System.NullReferenceException", None),
        ] {
            let found = names.resolve(&Field::Text(text.to_owned()), "m");
            assert_eq!(found.as_deref(), want, "{text}");
        }
        let long = Field::Text("x".repeat(101));
        assert_eq!(names.resolve(&long, "m"), None);
        let at = |place: &str, part: &str| Field::Parts {
            place: Some(place.to_owned()),
            parts: vec![part.to_owned()],
        };
        assert_eq!(
            names.resolve(&at("query", "id"), "m").as_deref(),
            Some("id_query")
        );
        assert_eq!(names.resolve(&at("path", "id"), "m").as_deref(), Some("id"));
        assert_eq!(
            names.resolve(&at("query", "page[size]"), "m").as_deref(),
            Some("size")
        );
        assert_eq!(
            names
                .resolve(&Field::FirstWord, "qty must be positive")
                .as_deref(),
            Some("quantity")
        );
        assert_eq!(names.resolve(&Field::FirstWord, "There is no stock"), None);
        assert_eq!(names.resolve(&Field::None, "qty"), None);
    }

    #[test]
    fn a_field_of_a_hidden_argument_loses_its_name() {
        let mut hiding = template(BodyShape::Members {
            members: vec![member("hidden:tenant", "tenantId"), member("amount", "qty")],
            open: true,
        });
        hiding.hidden = vec![crate::catalog::Hidden {
            argument: "hidden:tenant".to_owned(),
            value: crate::catalog::HiddenValue::Nothing,
        }];
        let names = Names::of(&hiding);
        for (text, want) in [
            ("tenantId", None),
            ("TENANTID", None),
            ("$.tenantId", None),
            ("body.tenantId", None),
            ("/data/attributes/tenantId", None),
            ("tenantId.0.x", None),
            ("hidden:tenant", None),
            ("qty", Some("amount")),
        ] {
            let found = names.resolve(&Field::Text(text.to_owned()), "m");
            assert_eq!(found.as_deref(), want, "{text}");
        }
        let first = names.resolve(&Field::FirstWord, "tenantId must be known");
        assert_eq!(first, None);

        let mut whole = template(BodyShape::Whole(member("hidden:body", "body")));
        whole.hidden = vec![crate::catalog::Hidden {
            argument: "hidden:body".to_owned(),
            value: crate::catalog::HiddenValue::Constant(serde_json::json!({})),
        }];
        let names = Names::of(&whole);
        for text in ["qty", "body.qty", "hidden:body"] {
            assert_eq!(
                names.resolve(&Field::Text(text.to_owned()), "m"),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn attributes_of_a_document_are_unwrapped_where_data_is_no_argument() {
        let members = template(BodyShape::Members {
            members: vec![member("quantity", "qty")],
            open: false,
        });
        let names = Names::of(&members);
        let pointer = Field::Text("/data/attributes/qty".to_owned());
        assert_eq!(names.resolve(&pointer, "m").as_deref(), Some("quantity"));
    }

    #[test]
    fn fields_of_a_whole_body_stand_below_its_argument() {
        let whole = template(BodyShape::Whole(member("body", "body")));
        let names = Names::of(&whole);
        let field = |text: &str| names.resolve(&Field::Text(text.to_owned()), "m");
        assert_eq!(field("qty").as_deref(), Some("body.qty"));
        assert_eq!(field("id").as_deref(), Some("id"));
        assert_eq!(field("body.qty").as_deref(), Some("body.qty"));
        let parts = Field::Parts {
            place: Some("body".to_owned()),
            parts: vec!["0".to_owned(), "qty".to_owned()],
        };
        assert_eq!(names.resolve(&parts, "m").as_deref(), Some("body.0.qty"));
    }
}
