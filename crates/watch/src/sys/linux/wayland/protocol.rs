//! The two data-control protocols, which differ only in name, as one: `ext` (the standard), else `wlr` (its
//! predecessor).
//!
//! Events become fields of [`WaylandState`]; nothing is decided here.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

use wayland_client::backend::ObjectId;
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, WlSeat};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, event_created_child};
use wayland_protocols::ext::data_control::v1::client as ext;
use wayland_protocols_wlr::data_control::v1::client as wlr;

use ext::ext_data_control_device_v1::{self as ext_device, ExtDataControlDeviceV1};
use ext::ext_data_control_manager_v1::{self as ext_manager, ExtDataControlManagerV1};
use ext::ext_data_control_offer_v1::{self as ext_offer, ExtDataControlOfferV1};
use ext::ext_data_control_source_v1::{self as ext_source, ExtDataControlSourceV1};
use wlr::zwlr_data_control_device_v1::{self as wlr_device, ZwlrDataControlDeviceV1};
use wlr::zwlr_data_control_manager_v1::{self as wlr_manager, ZwlrDataControlManagerV1};
use wlr::zwlr_data_control_offer_v1::{self as wlr_offer, ZwlrDataControlOfferV1};
use wlr::zwlr_data_control_source_v1::{self as wlr_source, ZwlrDataControlSourceV1};

use super::super::text_format::OfferedFormats;

type WlQueue = QueueHandle<WaylandState>;

#[derive(Default)]
pub(crate) struct WaylandState {
    /// Registry names: the first seat, and each protocol.
    seat: Option<u32>,
    ext: Option<u32>,
    wlr: Option<u32>,
    /// The compositor answered everything up to our last request.
    pub(crate) synced: bool,
    introduced: HashMap<ObjectId, OfferedFormats>,
    pub(crate) selection: Option<(WaylandOffer, OfferedFormats)>,
    /// Counts every new selection.
    pub(crate) selections: u64,
    /// The seat is gone, and its clipboard with it.
    pub(crate) finished: bool,
    /// Who wants our text, and in which form.
    pub(crate) wanted: Vec<(String, OwnedFd)>,
    /// Somebody else replaced our selection.
    pub(crate) cancelled: bool,
}

#[derive(Debug)]
pub(crate) enum WaylandOffer {
    Ext(ExtDataControlOfferV1),
    Wlr(ZwlrDataControlOfferV1),
}

impl WaylandOffer {
    /// Has the owner write the content to `into`.
    pub(crate) fn receive(&self, form: &str, into: impl AsFd) {
        match self {
            WaylandOffer::Ext(offer) => offer.receive(form.to_owned(), into.as_fd()),
            WaylandOffer::Wlr(offer) => offer.receive(form.to_owned(), into.as_fd()),
        }
    }

    fn destroy(&self) {
        match self {
            WaylandOffer::Ext(offer) => offer.destroy(),
            WaylandOffer::Wlr(offer) => offer.destroy(),
        }
    }
}

pub(crate) enum WaylandDevice {
    Ext(ExtDataControlManagerV1, ExtDataControlDeviceV1),
    Wlr(ZwlrDataControlManagerV1, ZwlrDataControlDeviceV1),
}

/// Why a seat has no clipboard.
pub(crate) enum WaylandDeviceError {
    NoSeat,
    NoProtocol,
}

impl WaylandDevice {
    pub(crate) fn bind(
        state: &WaylandState,
        registry: &WlRegistry,
        queue: &WlQueue,
    ) -> Result<WaylandDevice, WaylandDeviceError> {
        let seat = || -> Result<WlSeat, WaylandDeviceError> {
            Ok(registry.bind(state.seat.ok_or(WaylandDeviceError::NoSeat)?, 1, queue, ()))
        };
        if let Some(name) = state.ext {
            let manager: ExtDataControlManagerV1 = registry.bind(name, 1, queue, ());
            let device = manager.get_data_device(&seat()?, queue, ());
            return Ok(WaylandDevice::Ext(manager, device));
        }
        let manager: ZwlrDataControlManagerV1 =
            registry.bind(state.wlr.ok_or(WaylandDeviceError::NoProtocol)?, 1, queue, ());
        let device = manager.get_data_device(&seat()?, queue, ());
        Ok(WaylandDevice::Wlr(manager, device))
    }

    pub(crate) fn put(&self, forms: &[&str], queue: &WlQueue) {
        /// The protocols differ in their types alone.
        macro_rules! put_source {
            ($manager:ident, $device:ident) => {{
                let source = $manager.create_data_source(queue, ());
                forms.iter().for_each(|form| source.offer((*form).to_owned()));
                $device.set_selection(Some(&source));
            }};
        }
        match self {
            WaylandDevice::Ext(manager, device) => put_source!(manager, device),
            WaylandDevice::Wlr(manager, device) => put_source!(manager, device),
        }
    }
}

impl WaylandState {
    fn select(&mut self, offer: Option<WaylandOffer>, id: Option<ObjectId>) {
        self.selections += 1;
        if let Some((old, _)) = self.selection.take() {
            old.destroy();
        }
        let offered = id.and_then(|id| self.introduced.remove(&id)).unwrap_or_default();
        self.selection = offer.map(|offer| (offer, offered));
    }
}

impl Dispatch<WlRegistry, ()> for WaylandState {
    fn event(
        state: &mut Self,
        _: &WlRegistry,
        event: wl_registry::Event,
        (): &(),
        _: &Connection,
        _: &WlQueue,
    ) {
        let wl_registry::Event::Global { name, interface, .. } = event else { return };
        let seen = match interface.as_str() {
            "wl_seat" => &mut state.seat,
            "ext_data_control_manager_v1" => &mut state.ext,
            "zwlr_data_control_manager_v1" => &mut state.wlr,
            _ => return,
        };
        seen.get_or_insert(name);
    }
}

impl Dispatch<WlCallback, ()> for WaylandState {
    fn event(state: &mut Self, _: &WlCallback, _: wl_callback::Event, (): &(), _: &Connection, _: &WlQueue) {
        state.synced = true;
    }
}

/// Interfaces whose events do not matter here.
macro_rules! ignore_events {
    ($($interface:ty, $event:ty;)*) => {$(
        impl Dispatch<$interface, ()> for WaylandState {
            fn event(_: &mut WaylandState, _: &$interface, _: $event, (): &(), _: &Connection, _: &WlQueue) {}
        }
    )*};
}

ignore_events! {
    WlSeat, wl_seat::Event;
    ExtDataControlManagerV1, ext_manager::Event;
    ZwlrDataControlManagerV1, wlr_manager::Event;
}

/// The events of one of the protocols: a device, its offers, and our source.
macro_rules! dispatch_events {
    ($kind:path, $device:ident :: $Device:ident, $offer:ident :: $Offer:ident, $source:ident :: $Source:ident) => {
        impl Dispatch<$Device, ()> for WaylandState {
            fn event(state: &mut Self, _: &$Device, event: $device::Event, (): &(), _: &Connection, _: &WlQueue) {
                match event {
                    $device::Event::DataOffer { id } => {
                        state.introduced.insert(id.id(), OfferedFormats::default());
                    }
                    $device::Event::Selection { id } => {
                        let name = id.as_ref().map(Proxy::id);
                        state.select(id.map($kind), name);
                    }
                    $device::Event::PrimarySelection { id: Some(offer) } => {
                        state.introduced.remove(&offer.id());
                        offer.destroy();
                    }
                    $device::Event::Finished => state.finished = true,
                    _ => {}
                }
            }

            event_created_child!(WaylandState, $Device, [$device::EVT_DATA_OFFER_OPCODE => ($Offer, ())]);
        }

        impl Dispatch<$Offer, ()> for WaylandState {
            fn event(state: &mut Self, offer: &$Offer, event: $offer::Event, (): &(), _: &Connection, _: &WlQueue) {
                if let $offer::Event::Offer { mime_type } = event
                    && let Some(offered) = state.introduced.get_mut(&offer.id())
                {
                    offered.add_name(&mime_type);
                }
            }
        }

        impl Dispatch<$Source, ()> for WaylandState {
            fn event(state: &mut Self, source: &$Source, event: $source::Event, (): &(), _: &Connection, _: &WlQueue) {
                match event {
                    $source::Event::Send { mime_type, fd } => state.wanted.push((mime_type, fd)),
                    $source::Event::Cancelled => {
                        state.cancelled = true;
                        source.destroy();
                    }
                    _ => {}
                }
            }
        }
    };
}

dispatch_events!(
    WaylandOffer::Ext,
    ext_device::ExtDataControlDeviceV1,
    ext_offer::ExtDataControlOfferV1,
    ext_source::ExtDataControlSourceV1
);
dispatch_events!(
    WaylandOffer::Wlr,
    wlr_device::ZwlrDataControlDeviceV1,
    wlr_offer::ZwlrDataControlOfferV1,
    wlr_source::ZwlrDataControlSourceV1
);
