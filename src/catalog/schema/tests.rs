//! Published schemas, from documents of every version.
