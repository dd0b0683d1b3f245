#![doc = include_str!("../README.md")]

pub mod json;

pub mod text;

pub mod clock;

pub mod http;

pub mod catalog;

pub mod synthetic;

pub mod index;

pub mod access;

pub mod search;

pub mod invoke;

pub mod contract;

pub mod tools;

pub mod mcp;

pub mod telemetry;

pub mod demo;

pub mod server;

pub mod config;

pub mod cli;
