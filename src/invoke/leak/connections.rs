//! Connection strings of databases, queues, caches and directories.

use super::scan::{is_word, is_word_start, run_back};

/// Schemes that only a server's own configuration names.
const SCHEMES: [&str; 28] = [
    "postgres://",
    "postgresql://",
    "mysql://",
    "mysqlx://",
    "mariadb://",
    "mongodb://",
    "mongodb+srv://",
    "redis://",
    "rediss://",
    "amqp://",
    "amqps://",
    "mssql://",
    "sqlserver://",
    "oracle://",
    "clickhouse://",
    "cassandra://",
    "couchbase://",
    "neo4j://",
    "bolt://",
    "kafka://",
    "nats://",
    "memcached://",
    "ldap://",
    "ldaps://",
    "sqlite://",
    "sqlite:///",
    "snowflake://",
    "zookeeper://",
];

/// Keys of connection strings, without spaces and underscores. Single ones are also words of messages.
const KEYS: [&str; 33] = [
    "server",
    "datasource",
    "host",
    "hostname",
    "hostaddr",
    "address",
    "addr",
    "database",
    "dbname",
    "initialcatalog",
    "userid",
    "uid",
    "user",
    "username",
    "password",
    "pwd",
    "port",
    "driver",
    "dsn",
    "integratedsecurity",
    "trustedconnection",
    "persistsecurityinfo",
    "multipleactiveresultsets",
    "encrypt",
    "sslmode",
    "defaultendpointsprotocol",
    "accountname",
    "accountkey",
    "endpoint",
    "endpointsuffix",
    "sharedaccesskeyname",
    "sharedaccesskey",
    "instrumentationkey",
];

/// How many known keys with values make a connection string.
const KEYS_MIN: usize = 2;

/// The longest key that is looked for, in bytes.
const KEY_BYTES_MAX: usize = 32;

pub(super) fn found(lower: &str) -> bool {
    let scheme = SCHEMES.iter().any(|scheme| {
        lower
            .match_indices(scheme)
            .any(|(at, _)| is_word_start(lower, at))
    });
    scheme || has_jdbc(lower) || has_driver_address(lower) || has_pairs(lower)
}

/// `jdbc:driver:…`.
fn has_jdbc(lower: &str) -> bool {
    lower.match_indices("jdbc:").any(|(at, prefix)| {
        is_word_start(lower, at)
            && lower[at + prefix.len()..].starts_with(|first: char| first.is_ascii_alphabetic())
    })
}

/// `user:password@tcp(host:port)/database`, the form of Go's drivers.
fn has_driver_address(lower: &str) -> bool {
    ["@tcp(", "@tcp6(", "@unix(", "@udp("]
        .iter()
        .any(|form| lower.contains(form))
}

/// `Server=…;Database=…` and `host=… dbname=…`: several keys, each with a value.
fn has_pairs(lower: &str) -> bool {
    let mut met: Vec<&str> = Vec::new();
    let last_semicolon = lower.rfind(';');
    let mut semicolon = false;
    let mut database = false;
    for (at, _) in lower.match_indices('=') {
        let key: String = run_back(lower[..at].trim_end_matches(' '), KEY_BYTES_MAX, |byte| {
            is_word(byte) || byte == b' '
        })
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
        let valued = lower[at + 1..]
            .trim_start_matches(' ')
            .starts_with(|first: char| !first.is_whitespace() && first != ';');
        // In a sentence the key has words before it: `using host=db1 port=5432`.
        let Some(known) = KEYS.iter().find(|known| key.ends_with(**known)) else {
            continue;
        };
        if !valued {
            continue;
        }
        semicolon |= last_semicolon > Some(at);
        database |= matches!(
            *known,
            "host"
                | "hostaddr"
                | "hostname"
                | "server"
                | "datasource"
                | "database"
                | "dbname"
                | "initialcatalog"
                | "endpoint"
                | "accountname"
        );
        if !met.contains(known) {
            met.push(known);
        }
        if met.len() >= KEYS_MIN && database && (semicolon || met.len() > KEYS_MIN) {
            return true;
        }
    }
    met.contains(&"dbname") && met.len() >= KEYS_MIN
}
