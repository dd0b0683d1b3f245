//! Operations, from whole documents.
