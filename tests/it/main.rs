//! Everything that crosses a room, linked once.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod architecture;
mod catalog;
mod catalog_arguments;
mod catalog_cases;
mod catalog_diagnostics;
mod catalog_hostile;
mod catalog_schemas;
mod catalog_sources;
mod contract;
mod demo;
mod demo_document;
mod demo_random;
mod fixtures;
mod generation;
mod http;
mod http_backend;
mod invoke;
mod invoke_failures;
mod mcp_fake;
mod mcp_http;
mod mcp_properties;
mod mcp_refusals;
mod mcp_server;
mod mcp_stdio;
mod mcp_wire;
mod naive;
mod published;
mod readme;
mod rust_text;
mod tools;
mod tools_codes;
mod tools_generations;
mod tools_harness;
mod tools_invoke;
