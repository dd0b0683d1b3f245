//! The table of routes: what the shop answers, where, and in which dialect it refuses.
//!
//! Owns: the list; the router is built from it and a test holds the OpenAPI document to it. Must never hold
//! a rule of its own.

use axum::routing::MethodFilter;

use super::call::Call;
use super::reply::{Dialect, Refusal, Reply};
use super::shop::Shop;
use super::{customers, invoices, order_parts, orders, products, reports, shipments};

/// The methods the shop uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    /// The method as it is sent.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub(super) fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// How a route answers: synchronously, over the whole shop.
type Answer = fn(&mut Shop, &Call) -> Result<Reply, Refusal>;

/// One route.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) verb: Verb,
    pub(super) path: &'static str,
    pub(super) dialect: Dialect,
    pub(super) answer: Answer,
}

const fn route(verb: Verb, path: &'static str, dialect: Dialect, answer: Answer) -> Route {
    Route {
        verb,
        path,
        dialect,
        answer,
    }
}

use Dialect::{Bare, Detail, FieldMap, JsonApi, Messages, Plain, Problem};
use Verb::{Delete, Get, Patch, Post, Put};

/// Every route.
pub(super) static ROUTES: &[Route] = &[
    route(Get, "/products", FieldMap, products::list),
    route(Post, "/products", FieldMap, products::create),
    route(Post, "/products/import", FieldMap, products::import),
    route(Get, "/products/{product_id}", FieldMap, products::read),
    route(Patch, "/products/{product_id}", FieldMap, products::update),
    route(Delete, "/products/{product_id}", FieldMap, products::delete),
    route(
        Put,
        "/products/{product_id}/price",
        FieldMap,
        products::set_price,
    ),
    route(
        Get,
        "/products/{product_id}/reviews",
        Detail,
        products::list_reviews,
    ),
    route(
        Post,
        "/products/{product_id}/reviews",
        Detail,
        products::create_review,
    ),
    route(Get, "/categories", FieldMap, products::categories),
    route(Get, "/search", FieldMap, products::search),
    route(Get, "/customers", Problem, customers::list),
    route(Post, "/customers", Problem, customers::create),
    route(Get, "/customers/{customer_id}", Problem, customers::read),
    route(
        Patch,
        "/customers/{customer_id}",
        Problem,
        customers::update,
    ),
    route(
        Delete,
        "/customers/{customer_id}",
        Problem,
        customers::delete,
    ),
    route(
        Get,
        "/customers/{customer_id}/orders",
        Problem,
        customers::orders,
    ),
    route(
        Post,
        "/customers/{customer_id}/unlock",
        Problem,
        customers::unlock,
    ),
    route(Get, "/orders", Messages, orders::list),
    route(Post, "/orders", Messages, orders::create),
    route(Get, "/orders/export", Messages, orders::export),
    route(Get, "/orders/archive/{year}", Messages, orders::archive),
    route(Get, "/orders/{order_id}", Messages, orders::read),
    route(Patch, "/orders/{order_id}", Messages, orders::update),
    route(Post, "/orders/{order_id}/cancel", Messages, orders::cancel),
    route(
        Get,
        "/orders/{order_id}/history",
        Messages,
        order_parts::history,
    ),
    route(
        Post,
        "/orders/{order_id}/lines",
        Messages,
        order_parts::add_line,
    ),
    route(
        Delete,
        "/orders/{order_id}/lines/{line_no}",
        Messages,
        order_parts::remove_line,
    ),
    route(
        Get,
        "/orders/{order_id}/notes",
        Messages,
        order_parts::list_notes,
    ),
    route(
        Post,
        "/orders/{order_id}/notes",
        Messages,
        order_parts::add_note,
    ),
    route(Get, "/invoices", JsonApi, invoices::list),
    route(Get, "/invoices/{invoice_id}", JsonApi, invoices::read),
    route(Get, "/invoices/{invoice_id}/text", JsonApi, invoices::text),
    route(Get, "/invoices/{invoice_id}/pdf", JsonApi, invoices::pdf),
    route(Post, "/invoices/{invoice_id}/pay", JsonApi, invoices::pay),
    route(
        Post,
        "/invoices/{invoice_id}/remind",
        JsonApi,
        invoices::remind,
    ),
    route(Post, "/invoices/{invoice_id}/void", JsonApi, invoices::void),
    route(Get, "/shipments", Bare, shipments::list),
    route(Post, "/shipments", Bare, shipments::create),
    route(Get, "/shipments/{shipment_id}", Bare, shipments::read),
    route(
        Get,
        "/shipments/{shipment_id}/events",
        Bare,
        shipments::events,
    ),
    route(
        Get,
        "/shipments/{shipment_id}/tracking",
        Bare,
        shipments::track,
    ),
    route(
        Get,
        "/shipments/{shipment_id}/label",
        Bare,
        shipments::label,
    ),
    route(Get, "/carriers/quotes", Bare, shipments::quote),
    route(Get, "/taxes/{country}", Plain, reports::taxes),
    route(Get, "/reports/sales", Plain, reports::sales),
    route(Get, "/reports/stock", Plain, reports::stock),
    route(Get, "/reports/audit", Plain, reports::audit),
    route(Post, "/reports/reconciliation", Plain, reports::reconcile),
];
