//! What holds for any template and arguments.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{CollectionSeparator, Field, Fields, FileUse};

/// Splits and decodes a query as servers do, written apart from what composes it.
fn decoded_pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let [first, tail @ ..] = rest {
            rest = tail;
            match (first, tail) {
                (b'%', [high, low, after @ ..]) => {
                    let digits = [*high, *low];
                    let digits = std::str::from_utf8(&digits).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    rest = after;
                }
                (b'+', _) => bytes.push(b' '),
                _ => bytes.push(*first),
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    query
        .split('&')
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (decode(key), decode(value))
        })
        .collect()
}

fn any_style() -> impl Strategy<Value = Style> {
    prop_oneof![
        Just(Style::Simple),
        Just(Style::Label),
        Just(Style::Matrix),
        Just(Style::Form),
        Just(Style::SpaceDelimited),
        Just(Style::PipeDelimited),
        Just(Style::DeepObject),
        Just(Style::Cookie),
        Just(Style::Collection(CollectionSeparator::Space)),
        Just(Style::Collection(CollectionSeparator::Tab)),
        Just(Style::Collection(CollectionSeparator::Pipe)),
    ]
}

fn any_parameter() -> impl Strategy<Value = Parameter> {
    let location = prop_oneof![
        Just(Location::Path),
        Just(Location::Query),
        Just(Location::Header),
        Just(Location::Cookie),
        Just(Location::QueryString),
    ];
    let name = prop_oneof!["[a-d]", "[a-d]\\[[a-d]\\]", any::<String>()];
    let content = prop::option::of(prop_oneof![Just("application/json".to_owned()), ".*"]);
    (
        "[a-f]",
        name,
        location,
        any_style(),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        content,
    )
        .prop_map(
            |(argument, name, location, style, flags, content_type)| Parameter {
                argument,
                name,
                location,
                style,
                explode: flags.0,
                allow_reserved: flags.1,
                content_type,
                required: flags.2,
                nullable: flags.3,
            },
        )
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[./%a2eE;,= &#\\\\]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            ("[a-z=]{0,4}", any::<bool>()).prop_map(|(text, is_text)| {
                json!({ (if is_text { "text" } else { "base64" }): text })
            }),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_field() -> impl Strategy<Value = Field> {
    let types = prop::collection::vec(
        prop_oneof![
            Just("application/json".to_owned()),
            Just("image/*".to_owned()),
            any::<String>()
        ],
        0..3,
    );
    let file = prop::sample::select(vec![FileUse::Never, FileUse::Only, FileUse::Beside]);
    (
        "[a-f]",
        prop_oneof!["[a-d]", any::<String>()],
        prop::option::of(any_style()),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        types,
        file,
    )
        .prop_map(
            |(argument, name, style, flags, content_types, file)| Field {
                member: Member {
                    argument,
                    nullable: flags.2,
                    ..member(&name)
                },
                style,
                explode: flags.0,
                allow_reserved: flags.1,
                content_types,
                file,
                headers: vec![("X-A".to_owned(), name)],
            },
        )
}

/// A body of any kind over the arguments that calls here have.
fn any_shape() -> impl Strategy<Value = BodyShape> {
    let members = prop::collection::vec("[a-f]", 0..3);
    let fields = || {
        let parts = (
            prop::collection::vec(any_field(), 0..4),
            any::<bool>(),
            prop::option::of(Just(member("a"))),
        );
        parts.prop_map(|(fields, open, within)| Fields {
            fields,
            open,
            further: FileUse::Beside,
            within,
        })
    };
    let types = prop::collection::vec(any::<String>(), 0..2);
    prop_oneof![
        (members, any::<bool>()).prop_map(|(members, open)| BodyShape::Members {
            members: members.iter().map(|name| member(name)).collect(),
            open,
        }),
        Just(BodyShape::Whole(member("b"))),
        Just(BodyShape::Text(member("b"))),
        types.prop_map(|content_types| BodyShape::File {
            member: member("b"),
            content_types,
        }),
        fields().prop_map(BodyShape::Form),
        fields().prop_map(BodyShape::Multipart),
    ]
}

fn any_path_style() -> impl Strategy<Value = Style> {
    prop_oneof![
        Just(Style::Simple),
        Just(Style::Label),
        Just(Style::Matrix),
        Just(Style::Collection(CollectionSeparator::Space)),
    ]
}

proptest! {
    #[test]
    fn composing_never_panics(
        route in prop_oneof![".*", "(/|[a-d]|\\{[a-d]\\}|\\.|%2e|\\?|#){0,8}"],
        base in prop::option::of(prop_oneof![".*", Just("https://a.test/b".to_owned())]),
        method in prop_oneof![".*", Just("POST".to_owned())],
        parameters in prop::collection::vec(any_parameter(), 0..5),
        media_type in prop_oneof![Just("application/json".to_owned()), any::<String>()],
        shape in any_shape(),
        arguments in prop::collection::btree_map("[a-g]", any_value(), 0..6),
    ) {
        let template = RequestTemplate {
            method,
            base_url: base,
            body: Some(Body {
                media_type,
                shape,
                required: false,
                withheld: Vec::new(),
            }),
            ..template(&route, parameters)
        };
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        if let Ok(request) = compose(&template, &arguments) {
            let text = request.url.as_str();
            let again = Url::parse(text).unwrap();
            prop_assert_eq!(again.as_str(), text);
            prop_assert!(!text.contains("/../") && !text.contains("/./"));
        }
    }

    #[test]
    fn a_path_neither_gains_nor_loses_segments(
        style in any_path_style(),
        explode in any::<bool>(),
        literal in "[a.]{0,2}",
        value in any_value(),
        other in any_value(),
    ) {
        let route = format!("/a/{literal}{{x}}/b/{{y}}");
        let template = template(&route, vec![
            parameter("x", Location::Path, style, explode),
            parameter("y", Location::Path, style, explode),
        ]);
        let arguments = json!({"x": value, "y": other});
        if let Ok(request) = compose(&template, arguments.as_object().unwrap()) {
            let path = request.url.path().to_owned();
            let segments: Vec<_> = path.split('/').collect();
            prop_assert_eq!(segments.len(), 6, "{}", path);
            prop_assert_eq!((segments[1], segments[2], segments[4]), ("api", "a", "b"));
            prop_assert!(segments[3].len() > literal.len() && !segments[5].is_empty());
            // A reader that decodes a segment, and dots before it resolves them, finds no way up.
            for segment in segments {
                let dots = segment.to_lowercase().replace("%2e", ".");
                prop_assert!(dots != "." && dots != "..");
            }
        }
    }

    #[test]
    fn a_query_comes_back_as_it_was_given(
        one in any::<String>(),
        many in prop::collection::vec(any::<String>(), 1..4),
        object in prop::collection::btree_map("[^\\[\\]]{1,8}", any::<String>(), 1..4),
        reserved in any::<bool>(),
    ) {
        let mut parameters = vec![
            query("one&="),
            query("many"),
            parameter("deep", Location::Query, Style::DeepObject, true),
        ];
        for parameter in &mut parameters {
            parameter.allow_reserved = reserved;
        }
        let folded: std::collections::BTreeSet<_> = object.keys().map(|key| key.to_lowercase()).collect();
        prop_assume!(folded.len() == object.len());
        let search = template("/s", parameters);
        let arguments = json!({"one&=": one, "many": many, "deep": object});
        let request = compose(&search, arguments.as_object().unwrap()).unwrap();
        let mut want = vec![("one&=".to_owned(), one)];
        want.extend(many.into_iter().map(|item| ("many".to_owned(), item)));
        let object: BTreeMap<String, String> = object;
        want.extend(object.into_iter().map(|(key, text)| (format!("deep[{key}]"), text)));
        prop_assert_eq!(decoded_pairs(request.url.query().unwrap()), want);
    }
}
