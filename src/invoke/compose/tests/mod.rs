//! Composition to the byte, and what holds for any template and arguments.

mod bodies;
mod parts;
mod path;
mod properties;
mod query;

use super::*;
use crate::catalog::{Body, BodyShape, Member, Style};
use crate::invoke::ArgumentFault;

fn parameter(name: &str, location: Location, style: Style, explode: bool) -> Parameter {
    Parameter {
        argument: name.to_owned(),
        name: name.to_owned(),
        location,
        style,
        explode,
        allow_reserved: false,
        content_type: None,
        required: location == Location::Path,
        nullable: false,
    }
}

fn path(name: &str) -> Parameter {
    parameter(name, Location::Path, Style::Simple, false)
}

fn query(name: &str) -> Parameter {
    parameter(name, Location::Query, Style::Form, true)
}

fn header(name: &str) -> Parameter {
    parameter(name, Location::Header, Style::Simple, false)
}

fn member(name: &str) -> Member {
    Member {
        argument: name.to_owned(),
        name: name.to_owned(),
        nullable: false,
        required: false,
    }
}

fn template(route: &str, parameters: Vec<Parameter>) -> RequestTemplate {
    RequestTemplate {
        document: "orchard".to_owned(),
        method: "GET".to_owned(),
        base_url: Some("https://orchard.test/api".to_owned()),
        route: route.to_owned(),
        parameters,
        body: None,
        accepts: vec![],
        carriers: Vec::new(),
        hidden: Vec::new(),
    }
}

fn with_body(shape: BodyShape, required: bool) -> RequestTemplate {
    let mut template = template("/jars", vec![]);
    template.method = "POST".to_owned();
    template.body = Some(Body {
        media_type: "application/json".to_owned(),
        shape,
        required,
        withheld: Vec::new(),
    });
    template
}

fn run(template: &RequestTemplate, arguments: &str) -> Result<Request, ArgumentError> {
    let arguments = crate::json::parse(arguments.as_bytes(), 50).unwrap().value;
    compose(template, arguments.as_object().unwrap())
}

#[track_caller]
fn target(template: &RequestTemplate, arguments: &str) -> String {
    run(template, arguments).unwrap().target().to_owned()
}

#[track_caller]
fn refused(template: &RequestTemplate, arguments: &str, fault: ArgumentFault) -> ArgumentError {
    let error = run(template, arguments).expect_err(arguments);
    assert_eq!(error.fault, fault, "{arguments}: {error}");
    error
}
