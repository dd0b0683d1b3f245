//! The query styles.

use serde_json::json;

use super::*;
use crate::catalog::CollectionSeparator;

#[test]
fn query_styles() {
    let list = json!(["a b", "c,d", "e&f=g+h#i"]);
    let object = json!({"R": 100, "G&": "x,y"});
    let plain_list = json!([1, 2]);
    let plain_object = json!({"R": 1});
    let exploded = "q=a%20b&q=c%2Cd&q=e%26f%3Dg%2Bh%23i";
    for (style, explode, value, want) in [
        (Style::Form, true, &list, exploded),
        (Style::Form, true, &object, "R=100&G%26=x%2Cy"),
        (Style::Form, false, &list, "q=a%20b,c%2Cd,e%26f%3Dg%2Bh%23i"),
        (Style::Form, false, &object, "q=R,100,G%26,x%2Cy"),
        (Style::SpaceDelimited, true, &list, exploded),
        (Style::SpaceDelimited, false, &plain_list, "q=1%202"),
        (Style::SpaceDelimited, false, &plain_object, "q=R%201"),
        (Style::PipeDelimited, true, &list, exploded),
        (Style::PipeDelimited, false, &plain_list, "q=1%7C2"),
        (
            Style::Collection(CollectionSeparator::Space),
            false,
            &plain_list,
            "q=1%202",
        ),
        (
            Style::Collection(CollectionSeparator::Tab),
            false,
            &plain_list,
            "q=1%092",
        ),
        (
            Style::Collection(CollectionSeparator::Pipe),
            false,
            &plain_list,
            "q=1%7C2",
        ),
        (
            Style::DeepObject,
            true,
            &object,
            "q%5BR%5D=100&q%5BG%26%5D=x%2Cy",
        ),
        (
            Style::DeepObject,
            true,
            &json!({"a": {"b": 1, "c": [2, 3]}}),
            "q%5Ba%5D%5Bb%5D=1&q%5Ba%5D%5Bc%5D%5B%5D=2&q%5Ba%5D%5Bc%5D%5B%5D=3",
        ),
        (Style::DeepObject, true, &plain_list, "q%5B%5D=1&q%5B%5D=2"),
        (
            Style::DeepObject,
            true,
            &json!([{"id": "a", "qty": 1}, {"id": "b", "tags": ["x", "y"]}]),
            "q%5B0%5D%5Bid%5D=a&q%5B0%5D%5Bqty%5D=1&q%5B1%5D%5Bid%5D=b&q%5B1%5D%5Btags%5D%5B%5D=x\
             &q%5B1%5D%5Btags%5D%5B%5D=y",
        ),
        (
            Style::DeepObject,
            true,
            &json!({"m": [[1, 2], 3]}),
            "q%5Bm%5D%5B0%5D%5B%5D=1&q%5Bm%5D%5B0%5D%5B%5D=2&q%5Bm%5D%5B1%5D=3",
        ),
        (Style::Form, false, &json!([]), "q="),
        (Style::Form, false, &json!({}), "q="),
        (Style::Form, true, &json!(""), "q="),
        (Style::Form, true, &json!([""]), "q="),
        (Style::PipeDelimited, false, &json!("a|b"), "q=a%7Cb"),
    ] {
        let pick = template(
            "/pick",
            vec![parameter("q", Location::Query, style, explode)],
        );
        assert_eq!(
            target(&pick, &json!({ "q": value }).to_string()),
            format!("/api/pick?{want}"),
            "{style:?} {explode} {value}"
        );
    }
}

#[test]
fn query_values_without_a_wire_form() {
    for (style, explode, values) in [
        (
            Style::Form,
            true,
            vec![
                json!([]),
                json!({}),
                json!([[1]]),
                json!([null]),
                json!({"a": {}}),
                json!({"": 1}),
            ],
        ),
        (Style::Form, false, vec![json!([null]), json!([{}])]),
        (
            Style::SpaceDelimited,
            false,
            vec![json!(["a b", "c"]), json!({"a b": 1})],
        ),
        (Style::PipeDelimited, false, vec![json!(["a|b"])]),
        (
            Style::Collection(CollectionSeparator::Tab),
            false,
            vec![json!(["a\tb"])],
        ),
        (
            Style::DeepObject,
            true,
            vec![
                json!({}),
                json!([]),
                json!({"a": {}}),
                json!({"a": null}),
                json!({"a][b": 1}),
                json!({"": 1}),
                json!({"a": [[]]}),
                json!({"a": [{"b": null}]}),
                (0..20).fold(json!(1), |inner, _| json!({"a": inner})),
            ],
        ),
    ] {
        let pick = template(
            "/pick",
            vec![parameter("q", Location::Query, style, explode)],
        );
        for value in values {
            let arguments = json!({ "q": value }).to_string();
            let error = refused(&pick, &arguments, ArgumentFault::InvalidType);
            assert_eq!(error.fields[0].0, "q");
        }
    }
    let pick = template("/pick", vec![query("q")]);
    let error = refused(&pick, r#"{"q": []}"#, ArgumentFault::InvalidType);
    assert!(error.message.contains("leave it out"));
}

#[test]
fn exploded_keys_never_set_another_parameter() {
    let mut admin = query("admin");
    admin.argument = "renamed".to_owned();
    let deep = parameter("filter", Location::Query, Style::DeepObject, true);
    let search = template(
        "/x?Action=List",
        vec![
            query("free"),
            admin,
            query("sort[by]"),
            deep,
            query("filter[name]"),
            query("more"),
        ],
    );
    for key in [
        "admin",
        "ADMIN",
        "admin[]",
        "admin[0]",
        "sort",
        "sort[by]",
        "filter[x]",
        "action",
        "more",
    ] {
        let arguments = json!({"free": {key: 1}}).to_string();
        refused(&search, &arguments, ArgumentFault::InvalidType);
    }
    for key in ["name", "name[x]"] {
        let value = if key == "name" {
            json!({"name": 1})
        } else {
            json!({"name": {"x": 1}})
        };
        let arguments = json!({ "filter": value }).to_string();
        refused(&search, &arguments, ArgumentFault::InvalidType);
    }
    let both = r#"{"free": {"k": 1}, "more": {"k": 2}}"#;
    refused(&search, both, ArgumentFault::InvalidType);
    let arguments = r#"{"free": {"free": 1, "k&admin": "1&admin=2"}, "filter": {"names": 1}}"#;
    assert_eq!(
        target(&search, arguments),
        "/api/x?Action=List&free=1&k%26admin=1%26admin%3D2&filter%5Bnames%5D=1"
    );
}

#[test]
fn allow_reserved_keeps_what_cannot_split_a_pair() {
    let mut one = query("q");
    one.allow_reserved = true;
    let mut list = parameter("l", Location::Query, Style::Form, false);
    list.allow_reserved = true;
    let search = template("/s", vec![one, list]);
    assert_eq!(
        target(&search, r#"{"q": ":/?#[]@!$&'()*+,;= %41"}"#),
        "/api/s?q=:/?%23[]@!$%26%27()*%2B,%3B=%20%2541"
    );
    assert_eq!(
        target(&search, r#"{"l": ["a/b", "c,d"]}"#),
        "/api/s?l=a/b,c%2Cd"
    );
}

#[test]
fn content_parameters_are_json_in_one_text() {
    let mut filter = query("filter");
    filter.content_type = Some("application/json".to_owned());
    let search = template("/s", vec![filter]);
    assert_eq!(
        target(&search, r#"{"filter": {"a": [1.0, "x&y"]}}"#),
        "/api/s?filter=%7B%22a%22%3A%5B1.0%2C%22x%26y%22%5D%7D"
    );
    refused(
        &search,
        r#"{"filter": null}"#,
        ArgumentFault::NullNotAllowed,
    );
}

#[test]
fn a_url_that_no_backend_takes_is_not_sent() {
    let search = template("/s", vec![query("q")]);
    let arguments = json!({"q": "a".repeat(URL_BYTES_MAX)}).to_string();
    let error = refused(&search, &arguments, ArgumentFault::InvalidType);
    assert!(error.message.contains("60000 bytes"));
}
