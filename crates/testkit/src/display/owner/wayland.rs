//! On Wayland: a data-control source, as the compositor offers it to programs without a window, and a
//! thread that writes into the readers' pipes.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, WlSeat};
use wayland_client::{Connection, Dispatch, EventQueue, QueueHandle, event_created_child};
use wayland_protocols_wlr::data_control::v1::client as wlr;
use wlr::zwlr_data_control_device_v1::{self as device, ZwlrDataControlDeviceV1};
use wlr::zwlr_data_control_manager_v1::{self as manager, ZwlrDataControlManagerV1};
use wlr::zwlr_data_control_offer_v1::{self as offer, ZwlrDataControlOfferV1};
use wlr::zwlr_data_control_source_v1::{self as source, ZwlrDataControlSourceV1};

use super::{ClipboardBackend, ClipboardOwner};
use crate::expect::expect_ok;

/// The forms in which wl-copy offers text.
const FORMS: [&str; 3] = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain"];

struct WaylandSelection {
    connection: Connection,
    queue: QueueHandle<WaylandOwnerState>,
    manager: ZwlrDataControlManagerV1,
    device: ZwlrDataControlDeviceV1,
}

/// Connects, and serves readers.
pub(super) fn start(socket: &Path) -> Result<ClipboardOwner, Box<dyn Error>> {
    let connection = Connection::from_socket(UnixStream::connect(socket)?)?;
    let (globals, events) = registry_queue_init::<WaylandOwnerState>(&connection)?;
    let queue = events.handle();
    let seat: WlSeat = globals.bind(&queue, 1..=1, ())?;
    let manager: ZwlrDataControlManagerV1 = globals.bind(&queue, 1..=1, ())?;
    let device = manager.get_data_device(&seat, &queue, ());
    let serves = thread::Builder::new().name("owner".to_owned()).spawn(move || serve(events))?;
    let held = WaylandSelection { connection, queue, manager, device };
    Ok(ClipboardOwner { holds: Box::new(held), serves: Some(serves) })
}

impl ClipboardBackend for WaylandSelection {
    fn take(&self, text: &str) {
        let source = self.manager.create_data_source(&self.queue, text.to_owned());
        FORMS.iter().for_each(|form| source.offer((*form).to_owned()));
        self.device.set_selection(Some(&source));
        expect_ok(self.connection.flush(), "could not take the clipboard");
    }

    fn end(&self) {
        self.connection.display().sync(&self.queue, ());
        let _ = self.connection.flush();
    }
}

/// Ends when the compositor is gone.
fn serve(mut events: EventQueue<WaylandOwnerState>) {
    let mut state = WaylandOwnerState::default();
    while !state.ended && events.blocking_dispatch(&mut state).is_ok() {}
}

#[derive(Default)]
struct WaylandOwnerState {
    ended: bool,
}

impl Dispatch<ZwlrDataControlSourceV1, String> for WaylandOwnerState {
    fn event(
        _: &mut WaylandOwnerState,
        source: &ZwlrDataControlSourceV1,
        event: source::Event,
        text: &String,
        _: &Connection,
        _: &QueueHandle<WaylandOwnerState>,
    ) {
        match event {
            // A reader that closed the pipe has enough.
            source::Event::Send { fd, .. } => drop(File::from(fd).write_all(text.as_bytes())),
            source::Event::Cancelled => source.destroy(),
            _ => {}
        }
    }
}

impl Dispatch<ZwlrDataControlDeviceV1, ()> for WaylandOwnerState {
    fn event(
        _: &mut WaylandOwnerState,
        _: &ZwlrDataControlDeviceV1,
        event: device::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<WaylandOwnerState>,
    ) {
        // Offers of others do not matter here; nor do our own.
        if let device::Event::Selection { id: Some(offer) }
        | device::Event::PrimarySelection { id: Some(offer) } = event
        {
            offer.destroy();
        }
    }

    event_created_child!(WaylandOwnerState, ZwlrDataControlDeviceV1, [device::EVT_DATA_OFFER_OPCODE => (ZwlrDataControlOfferV1, ())]);
}

impl Dispatch<WlCallback, ()> for WaylandOwnerState {
    fn event(
        state: &mut WaylandOwnerState,
        _: &WlCallback,
        _: wl_callback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<WaylandOwnerState>,
    ) {
        state.ended = true;
    }
}

/// Interfaces whose events do not matter here.
macro_rules! unheard {
    ($($interface:ty, $event:ty, $data:ty;)*) => {$(
        impl Dispatch<$interface, $data> for WaylandOwnerState {
            fn event(_: &mut WaylandOwnerState, _: &$interface, _: $event, _: &$data, _: &Connection, _: &QueueHandle<WaylandOwnerState>) {}
        }
    )*};
}

unheard! {
    WlRegistry, wl_registry::Event, GlobalListContents;
    WlSeat, wl_seat::Event, ();
    ZwlrDataControlManagerV1, manager::Event, ();
    ZwlrDataControlOfferV1, offer::Event, ();
}
