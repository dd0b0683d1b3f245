//! Path values and routes.

use serde_json::json;

use super::*;
use crate::catalog::CollectionSeparator;

#[test]
fn path_values_stay_in_their_segment() {
    let plots = template("/plots/{plot}/detail", vec![path("plot")]);
    for (value, want) in [
        (json!("../../admin"), "/api/plots/..%2F..%2Fadmin/detail"),
        (json!("a?x=1"), "/api/plots/a%3Fx%3D1/detail"),
        (json!("a#b"), "/api/plots/a%23b/detail"),
        (json!("a b"), "/api/plots/a%20b/detail"),
        (json!("é/%2f"), "/api/plots/%C3%A9%2F%252f/detail"),
        (json!("%2e%2e"), "/api/plots/%252e%252e/detail"),
        (json!("..."), "/api/plots/.../detail"),
        (json!("a\\..\\b"), "/api/plots/a%5C..%5Cb/detail"),
        (json!("a;b=c,d"), "/api/plots/a%3Bb%3Dc%2Cd/detail"),
        (json!("\t\u{0}"), "/api/plots/%09%00/detail"),
        (json!(7), "/api/plots/7/detail"),
        (json!(true), "/api/plots/true/detail"),
        (json!(["a", "b,c"]), "/api/plots/a,b%2Cc/detail"),
        (json!({"R": 100, "G": 200}), "/api/plots/R,100,G,200/detail"),
    ] {
        let arguments = json!({ "plot": value }).to_string();
        assert_eq!(target(&plots, &arguments), want, "{arguments}");
    }
    for value in [
        json!(""),
        json!("."),
        json!(".."),
        json!(null),
        json!("a\nb"),
        json!("a\rb"),
        json!("a\u{2028}b"),
        json!([]),
        json!({}),
        json!([""]),
        json!([".."]),
        json!([[1]]),
        json!({"a": null}),
    ] {
        let arguments = json!({ "plot": value }).to_string();
        let error = refused(&plots, &arguments, ArgumentFault::InvalidPathType);
        assert_eq!(error.fields[0].0, "plot");
    }
    let error = refused(&plots, "{}", ArgumentFault::MissingPathParameter);
    assert_eq!(
        error.message,
        "`plot` must be given: the call's path needs it"
    );
}

#[test]
fn all_missing_path_parameters_are_named_at_once() {
    let two = template("/a/{x}/{y}/{x}", vec![path("y"), path("x"), query("q")]);
    let error = refused(&two, r#"{"q": 1}"#, ArgumentFault::MissingPathParameter);
    assert_eq!(
        error.message,
        "`x`, `y` must be given: the call's path needs them"
    );
    assert_eq!(target(&two, r#"{"x": 1, "y": 2}"#), "/api/a/1/2/1");
}

#[test]
fn path_styles() {
    let list = json!(["blue", "b.k"]);
    let object = json!({"R": 100, "G": "2.5"});
    for (style, explode, want_one, want_list, want_object) in [
        (Style::Simple, false, "a.b", "blue,b.k", "R,100,G,2.5"),
        (Style::Simple, true, "a.b", "blue,b.k", "R=100,G=2.5"),
        (Style::Label, false, ".a.b", ".blue,b.k", ".R,100,G,2.5"),
        (Style::Label, true, ".a.b", ".blue.b%2Ek", ".R=100.G=2%2E5"),
        (
            Style::Matrix,
            false,
            ";c=a.b",
            ";c=blue,b.k",
            ";c=R,100,G,2.5",
        ),
        (
            Style::Matrix,
            true,
            ";c=a.b",
            ";c=blue;c=b.k",
            ";R=100;G=2.5",
        ),
        (
            Style::Collection(CollectionSeparator::Pipe),
            false,
            "a.b",
            "blue%7Cb.k",
            "R%7C100%7CG%7C2.5",
        ),
    ] {
        let colors = template(
            "/{c}/x",
            vec![parameter("c", Location::Path, style, explode)],
        );
        for (value, want) in [
            (&json!("a.b"), want_one),
            (&list, want_list),
            (&object, want_object),
        ] {
            assert_eq!(
                target(&colors, &json!({ "c": value }).to_string()),
                format!("/api/{want}/x"),
                "{style:?} {explode}"
            );
        }
    }
}

#[test]
fn the_whole_path_is_checked_again() {
    let label = template(
        "/a/{x}",
        vec![parameter("x", Location::Path, Style::Label, false)],
    );
    let error = refused(
        &label,
        r#"{"x": ["", "."]}"#.replace("\"\", ", "").as_str(),
        ArgumentFault::InvalidPathType,
    );
    assert_eq!(error.message, "`x` would make a path segment `.` or `..`");
    // Two values, or a literal and a value, may not meet as dots either; an encoded dot is a dot.
    let two = template("/a/{x}{y}/b", vec![path("x"), path("y")]);
    assert_eq!(target(&two, r#"{"x": "a.", "y": ".b"}"#), "/api/a/a..b/b");
    for (route, arguments) in [
        ("/a/.{x}", r#"{"x": ["."]}"#),
        ("/a/%2e{x}", r#"{"x": ["."]}"#),
        ("/a/%2E{x}/b", r#"{"x": ["."]}"#),
    ] {
        let literal = template(route, vec![path("x")]);
        refused(&literal, arguments, ArgumentFault::InvalidPathType);
    }
    for route in ["/a/../b", "/a/%2e%2E/b", "/./b"] {
        refused(&template(route, vec![]), "{}", ArgumentFault::NotInvocable);
    }
}

#[test]
fn base_urls_and_routes_join() {
    for (base, route, want) in [
        ("https://a.test", "/x", "https://a.test/x"),
        ("https://a.test/", "/x/", "https://a.test/x/"),
        ("https://a.test:8443/v1", "x", "https://a.test:8443/v1/x"),
        ("http://A.test:80/v1", "", "http://a.test/v1"),
        ("https://a.test", "", "https://a.test/"),
        ("https://a.test", "/", "https://a.test/"),
        ("https://[::1]:1/b", "/x:act", "https://[::1]:1/b/x:act"),
        ("https://a.test", "/x#Target=Y", "https://a.test/x"),
        ("https://a.test", "//x", "https://a.test//x"),
    ] {
        let joined = RequestTemplate {
            base_url: Some(base.to_owned()),
            ..template(route, vec![])
        };
        assert_eq!(run(&joined, "{}").unwrap().url.as_str(), want);
    }
}

#[test]
fn the_schema_tells_plain_path_values_from_lists() {
    let plots = template("/plots/{plot}", vec![path("plot")]);
    let schema = json!({"properties": {"plot": {"type": "string"}}});
    let arguments = json!({"plot": ["a"]});
    let error = compose_checked(
        &plots,
        &schema,
        arguments.as_object().unwrap(),
        Limits::default(),
    )
    .unwrap_err();
    assert_eq!(error.fault, ArgumentFault::InvalidPathType);
    assert!(compose(&plots, arguments.as_object().unwrap()).is_ok());
    let number = json!({"plot": 5});
    assert!(
        compose_checked(
            &plots,
            &schema,
            number.as_object().unwrap(),
            Limits::default()
        )
        .is_ok()
    );
}
