//! The parts of an order: lines, notes, history.
//!
//! Owns: the rules of changing them. Must never decide an order's status.

use super::call::{Call, Faults};
use super::orders::{is_waiting, line, settled};
use super::page::Window;
use super::reply::{Refusal, Reply};
use super::rows::Note;
use super::shop::{PARTS_MAX, Shop, room_for};

const NOTE_CHARS_MAX: usize = 2_000;
const AUTHOR_CHARS_MAX: usize = 60;

pub(super) fn add_line(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("order_id")?;
    let order = shop.order(id)?;
    if !is_waiting(order.status) {
        return Err(settled(id, order.status, "nothing can be added"));
    }
    room_for(&order.lines, PARTS_MAX, "lines an order")?;
    let last = order
        .lines
        .iter()
        .map(|line| line.number)
        .max()
        .unwrap_or(0);
    let mut faults = Faults::default();
    let form = call.form()?;
    let line = line(shop, &form, &mut faults, last + 1);
    let Some(line) = line else {
        return Err(faults.refuse());
    };
    if line.amount.currency != order.total.currency {
        form.fault(
            &mut faults,
            "product_id",
            "must be priced in the currency of the order",
        );
    }
    faults.check()?;
    let row = shop.order_mut(id)?;
    row.lines.push(line);
    row.recount();
    Reply::created(row)
}

pub(super) fn remove_line(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("order_id")?;
    let line_no = call.id("line_no")?;
    let order = shop.order(id)?;
    if !order.lines.iter().any(|line| line.number == line_no) {
        return Err(Refusal::missing("line", line_no));
    }
    if !is_waiting(order.status) {
        return Err(settled(id, order.status, "nothing can be taken off it"));
    }
    if order.lines.len() == 1 {
        return Err(Refusal::conflict(format!(
            "line {line_no} is the last of order {id}; cancel the order instead"
        )));
    }
    let row = shop.order_mut(id)?;
    row.lines.retain(|line| line.number != line_no);
    row.recount();
    Ok(Reply::nothing())
}

pub(super) fn history(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    Reply::ok(&shop.order(call.id("order_id")?)?.history)
}

pub(super) fn list_notes(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let order = shop.order(call.id("order_id")?)?;
    let mut faults = Faults::default();
    let window = Window::of(call, &mut faults);
    faults.check()?;
    window.cut(&order.notes)
}

pub(super) fn add_note(shop: &mut Shop, call: &Call) -> Result<Reply, Refusal> {
    let id = call.id("order_id")?;
    room_for(&shop.order(id)?.notes, PARTS_MAX, "notes an order")?;
    let mut faults = Faults::default();
    let form = call.form()?;
    form.need(&mut faults, &["text"]);
    let text = form.text(&mut faults, "text", NOTE_CHARS_MAX);
    let author = form.text(&mut faults, "author", AUTHOR_CHARS_MAX);
    let Some(text) = text else {
        return Err(faults.refuse());
    };
    faults.check()?;
    let row = shop.order_mut(id)?;
    let note = Note {
        number: row.notes.iter().map(|note| note.number).max().unwrap_or(0) + 1,
        author: author.unwrap_or("office").to_owned(),
        text: text.to_owned(),
        written_at: call.moment(),
    };
    let reply = Reply::created(&note);
    row.notes.push(note);
    reply
}
