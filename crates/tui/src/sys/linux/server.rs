//! The calls to the desktop's notification server.
//!
//! One connection per notification, closed right after. The hint that names an application is left out on
//! purpose: some desktops remove a notification when the application's connection closes.

use std::time::Instant;

use super::address::BusAddress;
use super::bus::{BUS, BusConnection};
use super::desktop::{DesktopNotification, ShownNotification};
use super::marshal::{BusCall, BusWriter};
use crate::notify::{BusError, DesktopProbe};

const SERVER: &str = "org.freedesktop.Notifications";
const SERVER_PATH: &str = "/org/freedesktop/Notifications";
/// The application name of our notifications.
const APP: &str = "relay";
/// The signature of `Notify`.
const NOTIFY: &str = "susssasa{sv}i";
/// The server decides how long it stays.
const ITS_OWN_TIME: i32 = -1;
const NORMAL: u8 = 1;
const CRITICAL: u8 = 2;

/// Shows `note` in place of `last`, if the same server still runs: another one may have given that number
/// to somebody else's notification.
pub(super) fn notify(
    places: &[BusAddress],
    deadline: Instant,
    note: &DesktopNotification,
    last: Option<&ShownNotification>,
) -> Result<ShownNotification, BusError> {
    let mut bus = BusConnection::connect(places, deadline)?;
    let replaces = match last {
        Some(last) if owner(&mut bus)?.as_ref() == Some(&last.server) => last.id,
        _ => 0,
    };
    let mut body = BusWriter::default();
    body.string(APP);
    body.u32(replaces);
    body.string("");
    body.string(&note.summary);
    body.string(&note.body);
    body.array(4, |_no_actions| ());
    body.array(8, |hints| {
        hints.align(8);
        hints.string("urgency");
        hints.signature("y");
        hints.byte(if note.urgent { CRITICAL } else { NORMAL });
    });
    body.i32(ITS_OWN_TIME);
    let call = BusCall {
        destination: SERVER,
        path: SERVER_PATH,
        interface: SERVER,
        member: "Notify",
        signature: NOTIFY,
        body,
    };
    let answer = bus.call(&call)?;
    let id = answer.body("u").and_then(|mut body| body.u32()).ok_or(BusError::NotABus)?;
    Ok(ShownNotification { server: answer.sender.unwrap_or_default(), id })
}

/// Who shows notifications, now or on demand.
pub(super) fn probe(places: &[BusAddress], deadline: Instant) -> Result<DesktopProbe, BusError> {
    let mut bus = BusConnection::connect(places, deadline)?;
    if owner(&mut bus)?.is_some() {
        return Ok(DesktopProbe::ServerRunning);
    }
    let answer = bus.call_bus("ListActivatableNames", "", BusWriter::default())?;
    let names = answer.body("as").and_then(|mut body| body.strings()).ok_or(BusError::NotABus)?;
    Ok(if names.iter().any(|name| name == SERVER) { DesktopProbe::Startable } else { DesktopProbe::NoServer })
}

/// The connection that owns the server's name.
fn owner(bus: &mut BusConnection) -> Result<Option<String>, BusError> {
    let mut body = BusWriter::default();
    body.string(SERVER);
    match bus.call_bus("GetNameOwner", "s", body) {
        Ok(answer) => answer.body("s").and_then(|mut body| body.string()).map(Some).ok_or(BusError::NotABus),
        Err(BusError::Answer(name)) if name.strip_prefix(BUS) == Some(".Error.NameHasNoOwner") => Ok(None),
        Err(error) => Err(error),
    }
}
