//! The words catalogues are made of.

use super::random::Random;

pub(super) const VERBS: [&str; 20] = [
    "get", "list", "create", "update", "delete", "search", "cancel", "approve", "export", "import",
    "assign", "archive", "restore", "validate", "sync", "send", "start", "stop", "count", "replace",
];

pub(super) const RESOURCES: [&str; 80] = [
    "user", "order", "invoice", "payment", "customer", "product", "shipment", "account", "project",
    "repository", "issue", "comment", "message", "channel", "subscription", "plan", "price", "coupon",
    "refund", "dispute", "transfer", "balance", "card", "bank", "contact", "campaign", "template",
    "segment", "report", "dashboard", "metric", "alert", "incident", "deployment", "cluster", "node",
    "volume", "snapshot", "network", "subnet", "certificate", "domain", "record", "zone", "policy",
    "role", "permission", "group", "team", "member", "session", "token", "device", "sensor", "reading",
    "location", "route", "vehicle", "driver", "booking", "room", "menu", "recipe", "supplier", "stock",
    "warehouse", "document", "folder", "file", "image", "video", "playlist", "track", "artist", "album",
    "event", "ticket", "venue", "course", "lesson",
];

pub(super) const PARTS: [&str; 40] = [
    "item", "status", "history", "setting", "detail", "summary", "owner", "label", "attachment", "version",
    "rule", "quota", "usage", "limit", "filter", "preference", "note", "tag", "link", "schedule", "backup",
    "log", "key", "secret", "webhook", "address", "contact", "line", "tax", "discount", "schema", "field",
    "value", "draft", "review", "vote", "reaction", "watcher", "credential", "endpoint",
];

pub(super) const PARAMETERS: [&str; 48] = [
    "id", "limit", "offset", "cursor", "page", "pageSize", "sort", "order", "filter", "query", "status",
    "created_after", "createdBefore", "name", "description", "type", "email", "currency", "amount",
    "quantity", "startDate", "end_date", "timezone", "locale", "includeDeleted", "expand", "fields",
    "userId", "account_id", "projectId", "region", "zone", "size", "format", "force", "dryRun", "reason",
    "notify", "callbackUrl", "metadata", "tags", "owner_id", "parentId", "priority", "visibility",
    "requestId", "idempotency_key", "version",
];

/// Words that stand in every English description.
pub(super) const STOP_WORDS: [&str; 16] = [
    "the", "a", "of", "for", "to", "and", "in", "with", "by", "all", "that", "from", "is", "on", "one", "given",
];

pub(super) const FOREIGN: [&str; 16] = [
    "заказ", "пользователь", "счёт", "список", "订单", "用户列表", "创建发票", "注文", "ユーザー", "ऑर्डर",
    "sipariş", "größe", "données", "año", "طلب", "đơn",
];

/// Distinct made-up words of a description vocabulary, besides the real ones.
pub(super) const VOCABULARY: usize = 30_000;

const ONSETS: [&str; 20] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "br", "tr", "st", "pl", "gr", "ch",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "ou"];
const ENDINGS: [&str; 12] = ["", "n", "r", "l", "t", "s", "nd", "ment", "tion", "er", "al", "ing"];

/// The made-up word of a rank; frequent ranks are short.
pub(super) fn word(rank: usize) -> String {
    let mut random = Random::at(0x776f_7264, rank as u64);
    let syllables = if rank < 400 { 1 } else { random.between(2, 3) };
    let mut word = String::new();
    for _ in 0..syllables {
        word.push_str(random.pick(&ONSETS));
        word.push_str(random.pick(&VOWELS));
    }
    word.push_str(random.pick(&ENDINGS));
    word
}
