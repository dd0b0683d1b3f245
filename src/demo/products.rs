//! The products desk: list, read, write, prices, categories, reviews and the import.
//!
//! Owns: the rules of products. Must never change another kind of row.

use axum::http::StatusCode;
use serde_json::Value;

use super::call::{Call, Faults, Form, forms};
use super::page::Window;
use super::reply::{Place, Refusal, Reply};
use super::rows::{Attributes, Money, Product, Review};
use super::seed;
use super::shop::{PARTS_MAX, ROWS_MAX, Shop, full, room_for};
use super::words::{Currency, OrderStatus, ProductSort, SearchKind, Word};

/// The highest price in minor units: ten million of a currency with cents.
const PRICE_MAX: u64 = 1_000_000_000;

/// The most pieces a shelf holds.
const STOCK_MAX: u64 = 1_000_000;

const NAME_CHARS_MAX: usize = 120;
const TEXT_CHARS_MAX: usize = 2_000;
const TAGS_MAX: usize = 10;
const TAG_CHARS_MAX: usize = 30;

/// Rows of one import.
const IMPORT_ROWS_MAX: usize = 100;

pub(super) fn list(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let text = call.text(&mut faults, "q").map(str::to_lowercase);
    let category = call.text(&mut faults, "category");
    let tags = call.listed("tags");
    let colour = call.text(&mut faults, "attributes[colour]");
    let material = call.text(&mut faults, "attributes[material]");
    let price_min = call.whole(&mut faults, "price_min", 0..=PRICE_MAX);
    let price_max = call.whole(&mut faults, "price_max", 0..=PRICE_MAX);
    let in_stock = call.flag(&mut faults, "in_stock");
    let sort = call.word(&mut faults, "sort");
    let window = Window::of(call, &mut faults);
    if price_min.zip(price_max).is_some_and(|(min, max)| min > max) {
        faults.add(Place::Query, "price_min", "must not be above price_max");
    }
    faults.check()?;

    let mut rows: Vec<&Product> = shop
        .products
        .iter()
        .filter(|row| {
            text.as_deref()
                .is_none_or(|text| row.name.to_lowercase().contains(text))
        })
        .filter(|row| category.is_none_or(|category| row.category == category))
        .filter(|row| tags.iter().all(|tag| row.tags.iter().any(|own| own == tag)))
        .filter(|row| colour.is_none() || row.attributes.colour.as_deref() == colour)
        .filter(|row| material.is_none() || row.attributes.material.as_deref() == material)
        .filter(|row| price_min.is_none_or(|min| row.price.amount >= min))
        .filter(|row| price_max.is_none_or(|max| row.price.amount <= max))
        .filter(|row| in_stock.is_none_or(|wanted| wanted == (row.stock > 0)))
        .collect();
    match sort.unwrap_or(ProductSort::Name) {
        ProductSort::Name => {
            rows.sort_by(|one, two| one.name.cmp(&two.name).then(one.id.cmp(&two.id)));
        }
        ProductSort::Price => rows.sort_by_key(|row| (row.price.amount, row.id)),
        ProductSort::Stock => rows.sort_by_key(|row| (row.stock, row.id)),
        ProductSort::Newest => rows.sort_by(|one, two| two.created_at.cmp(&one.created_at)),
    }
    window.cut(&rows)
}

pub(super) fn read(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(shop.product(call.id("product_id")?)?)
}

/// The values a product is made of, checked.
#[derive(Debug)]
struct Draft {
    name: String,
    description: Option<String>,
    category: String,
    price: Money,
    stock: u64,
    tags: Vec<String>,
    attributes: Attributes,
}

impl Draft {
    /// Reads a form; nothing when a value is missing or faulty, and then there are faults.
    fn of(form: &Form<'_>, faults: &mut Faults) -> Option<Self> {
        form.need(faults, &["name", "category", "price"]);
        let name = form.text(faults, "name", NAME_CHARS_MAX);
        let category = category(form, faults);
        let price = form
            .inner(faults, "price")
            .and_then(|form| money(&form, faults));
        let description = form.text(faults, "description", TEXT_CHARS_MAX);
        let stock = form.whole(faults, "stock", 0..=STOCK_MAX);
        let tags = form.texts(faults, "tags", TAGS_MAX, TAG_CHARS_MAX);
        let attributes = form.inner(faults, "attributes");
        let attributes = attributes.map(|form| Attributes {
            colour: form
                .text(faults, "colour", TAG_CHARS_MAX)
                .map(str::to_owned),
            material: form
                .text(faults, "material", TAG_CHARS_MAX)
                .map(str::to_owned),
        });
        Some(Self {
            name: name?.to_owned(),
            description: description.map(str::to_owned),
            category: category?,
            price: price?,
            stock: stock.unwrap_or(0),
            tags: tags.unwrap_or_default(),
            attributes: attributes.unwrap_or(Attributes {
                colour: None,
                material: None,
            }),
        })
    }

    fn into_row(self, id: u64, created_at: String) -> Product {
        let prefix: String = self.category.chars().take(3).collect();
        Product {
            id,
            sku: format!("{}-{id:04}", prefix.to_uppercase()),
            name: self.name,
            description: self.description,
            category: self.category,
            price: self.price,
            stock: self.stock,
            tags: self.tags,
            attributes: self.attributes,
            version: 1,
            created_at,
            discontinued_on: None,
            reviews: Vec::new(),
        }
    }
}

/// A category of the tree, at any depth.
fn category(form: &Form<'_>, faults: &mut Faults) -> Option<String> {
    let slug = form.text(faults, "category", NAME_CHARS_MAX)?;
    let mut open = seed::categories();
    while let Some(branch) = open.pop() {
        if branch.slug == slug {
            return Some(slug.to_owned());
        }
        open.extend(branch.children);
    }
    form.fault(faults, "category", "must be a slug of the category tree");
    None
}

fn money(form: &Form<'_>, faults: &mut Faults) -> Option<Money> {
    form.need(faults, &["amount", "currency"]);
    let amount = form.whole(faults, "amount", 1..=PRICE_MAX);
    let currency = form.word::<Currency>(faults, "currency");
    Some(Money {
        amount: amount?,
        currency: currency?,
    })
}

pub(super) fn create(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let draft = Draft::of(&call.form()?, &mut faults);
    let Some(draft) = draft else {
        return Err(faults.refuse());
    };
    faults.check()?;
    room_for(&shop.products, ROWS_MAX, "products")?;
    let row = draft.into_row(shop.next_number(), call.moment());
    let reply = Reply::created(&row);
    shop.products.push(row);
    reply
}

/// All rows or none. One that cannot be read is answered the way some importers do: with the inner
/// exception's text, which is nobody's business outside.
pub(super) fn import(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let rows = match &call.body {
        Some(Value::Array(rows)) if (1..=IMPORT_ROWS_MAX).contains(&rows.len()) => rows,
        _ => {
            let message = format!("send a list of 1 to {IMPORT_ROWS_MAX} products");
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        }
    };
    let mut faults = Faults::default();
    let forms = forms(&mut faults, rows, "");
    let drafts: Option<Vec<_>> = forms
        .iter()
        .map(|form| Draft::of(form, &mut faults))
        .collect();
    let Some(drafts) = drafts.filter(|drafts| drafts.len() == rows.len()) else {
        let inner = "com.shop.import.RowException: cannot read row at \
                     com.shop.import.RowReader.next(RowReader.java:88) of /srv/shop/import/incoming.json";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, inner));
    };
    faults.check()?;
    if shop.products.len() + drafts.len() > ROWS_MAX {
        return Err(full(ROWS_MAX, "products"));
    }
    let mut ids = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let id = shop.next_number();
        shop.products.push(draft.into_row(id, call.moment()));
        ids.push(id);
    }
    Reply::created(&serde_json::json!({"imported": ids.len(), "ids": ids}))
}

pub(super) fn update(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("product_id")?;
    shop.product(id)?;
    let mut faults = Faults::default();
    let form = call.form()?;
    let name = form.text(&mut faults, "name", NAME_CHARS_MAX);
    let description = form.text(&mut faults, "description", TEXT_CHARS_MAX);
    let stock = form.whole(&mut faults, "stock", 0..=STOCK_MAX);
    let tags = form.texts(&mut faults, "tags", TAGS_MAX, TAG_CHARS_MAX);
    let discontinued_on = form.day(&mut faults, "discontinued_on");
    faults.check()?;

    let row = shop.product_mut(id)?;
    if let Some(name) = name {
        name.clone_into(&mut row.name);
    }
    if description.is_some() || form.cleared("description") {
        row.description = description.map(str::to_owned);
    }
    if let Some(stock) = stock {
        row.stock = stock;
    }
    if let Some(tags) = tags {
        row.tags = tags;
    }
    if discontinued_on.is_some() || form.cleared("discontinued_on") {
        row.discontinued_on = discontinued_on.map(str::to_owned);
    }
    row.version += 1;
    Reply::ok(row)
}

/// Prices are changed against the version that was read: 428 without one, 412 with an old one.
pub(super) fn set_price(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("product_id")?;
    let version = shop.product(id)?.version;
    let Some(expected) = call.header("if-match") else {
        return Err(Refusal::new(
            StatusCode::PRECONDITION_REQUIRED,
            "send the version of the product you read in If-Match",
        ));
    };
    let mut faults = Faults::default();
    let expected = expected.trim_matches('"').parse::<u64>();
    if expected.is_err() {
        faults.add(Place::Header, "If-Match", "must be the number in version");
    }
    let price = money(&call.form()?, &mut faults);
    let Some(price) = price else {
        return Err(faults.refuse());
    };
    faults.check()?;
    if expected != Ok(version) {
        return Err(Refusal::new(
            StatusCode::PRECONDITION_FAILED,
            format!("product {id} is at version {version} by now; read it again"),
        ));
    }
    let row = shop.product_mut(id)?;
    row.price = price;
    row.version += 1;
    Reply::ok(row)
}

pub(super) fn delete(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("product_id")?;
    shop.product(id)?;
    let open = shop.orders.iter().find(|order| {
        let waiting = matches!(
            order.status,
            OrderStatus::Pending | OrderStatus::Paid | OrderStatus::Packed
        );
        waiting && order.lines.iter().any(|line| line.product_id == id)
    });
    if let Some(order) = open {
        return Err(Refusal::conflict(format!(
            "product {id} is on order {}, which is not shipped yet",
            order.id
        )));
    }
    shop.products.retain(|row| row.id != id);
    Ok(Reply::nothing())
}

pub(super) fn categories(_: &mut Shop, _: &Call) -> Result<Reply, Refusal> {
    Reply::ok(&seed::categories())
}

pub(super) fn list_reviews(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let product = shop.product(call.id("product_id")?)?;
    let mut faults = Faults::default();
    let stars_min = call.whole(&mut faults, "stars_min", 1..=5).unwrap_or(1);
    let window = Window::of(call, &mut faults);
    faults.check()?;
    let rows: Vec<_> = product
        .reviews
        .iter()
        .filter(|row| row.stars >= stars_min)
        .collect();
    window.cut(&rows)
}

pub(super) fn create_review(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("product_id")?;
    room_for(&shop.product(id)?.reviews, PARTS_MAX, "reviews a product")?;
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["stars", "title", "author"]);
    let stars = form.whole(&mut faults, "stars", 1..=5);
    let title = form.text(&mut faults, "title", NAME_CHARS_MAX);
    let author = form.text(&mut faults, "author", NAME_CHARS_MAX);
    let text = form.text(&mut faults, "text", TEXT_CHARS_MAX);
    let (Some(stars), Some(title), Some(author)) = (stars, title, author) else {
        return Err(faults.refuse());
    };
    faults.check()?;
    let row = Review {
        id: shop.next_number(),
        stars,
        title: title.to_owned(),
        text: text.map(str::to_owned),
        author: author.to_owned(),
        created_at: call.moment(),
    };
    let reply = Reply::created(&row);
    shop.product_mut(id)?.reviews.push(row);
    reply
}

/// Looks through several kinds of row at once.
pub(super) fn search(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let mut faults = Faults::default();
    let kinds = call.words::<SearchKind>(&mut faults, "kinds");
    let text = call.text(&mut faults, "q").map(str::to_lowercase);
    let window = Window::of(call, &mut faults);
    let Some(text) = text else {
        faults.add(Place::Query, "q", "is required");
        return Err(faults.refuse());
    };
    faults.check()?;

    let wanted = |kind| kinds.is_empty() || kinds.contains(&kind);
    let hit = |kind: SearchKind, id: u64, title: String| serde_json::json!({"kind": kind.as_str(), "id": id, "title": title});
    let mut hits = Vec::new();
    if wanted(SearchKind::Product) {
        let rows = shop
            .products
            .iter()
            .filter(|row| row.name.to_lowercase().contains(&text));
        hits.extend(rows.map(|row| hit(SearchKind::Product, row.id, row.name.clone())));
    }
    if wanted(SearchKind::Customer) {
        let rows = shop
            .customers
            .iter()
            .filter(|row| row.name.to_lowercase().contains(&text));
        hits.extend(rows.map(|row| hit(SearchKind::Customer, row.id, row.name.clone())));
    }
    if wanted(SearchKind::Order) {
        let rows = shop
            .orders
            .iter()
            .filter(|row| row.id.to_string().contains(&text));
        let title = |id| format!("Order {id}");
        hits.extend(rows.map(|row| hit(SearchKind::Order, row.id, title(row.id))));
    }
    window.cut(&hits)
}
