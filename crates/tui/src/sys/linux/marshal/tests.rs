//! Alignment and lengths, byte by byte; and malformed messages.

use super::*;

fn bytes(write: impl FnOnce(&mut BusWriter)) -> Vec<u8> {
    let mut writer = BusWriter::default();
    write(&mut writer);
    writer.bytes
}

fn hello() -> Vec<u8> {
    let call = BusCall {
        destination: "d",
        path: "/o",
        interface: "i.f",
        member: "Hi",
        signature: "s",
        body: text("ab"),
    };
    call.encode(7)
}

fn text(text: &str) -> BusWriter {
    let mut body = BusWriter::default();
    body.string(text);
    body
}

/// The same bytes as an answer to call 9: the bus encodes messages the way we do.
fn answer() -> Vec<u8> {
    let mut out = BusWriter::default();
    out.bytes.extend([b'l', RETURN, 0, 1]);
    out.u32(7);
    out.u32(1);
    out.array(8, |out| {
        out.byte(5);
        out.signature("u");
        out.u32(9);
        out.align(8);
        out.byte(7);
        out.signature("s");
        out.string(":1.4");
        out.align(8);
        out.byte(8);
        out.signature("g");
        out.signature("s");
    });
    out.align(8);
    out.string("ab");
    out.bytes
}

#[test]
fn every_value_stands_at_a_multiple_of_its_size() {
    assert_eq!(bytes(|w| (w.byte(1), w.u32(2)).1), [1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(bytes(|w| (w.byte(1), w.i32(-1)).1), [1, 0, 0, 0, 255, 255, 255, 255]);
    assert_eq!(bytes(|w| w.string("ab")), [2, 0, 0, 0, b'a', b'b', 0]);
    assert_eq!(bytes(|w| (w.string("ab"), w.string("")).1), [2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes(|w| w.signature("as")), [2, b'a', b's', 0]);
}

#[test]
fn the_length_of_an_array_leaves_out_the_gap_before_it() {
    assert_eq!(bytes(|w| w.array(4, |_| ())), [0, 0, 0, 0]);
    assert_eq!(bytes(|w| w.array(8, |_| ())), [0; 8]);
    assert_eq!(bytes(|w| w.array(8, |w| w.byte(9))), [1, 0, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(bytes(|w| (w.u32(5), w.array(8, |w| w.byte(9))).1), [5, 0, 0, 0, 1, 0, 0, 0, 9]);
}

#[test]
fn a_call_is_a_header_padded_to_eight_and_its_body() {
    let message = hello();
    assert_eq!(message[..12], [b'l', 1, 0, 1, 7, 0, 0, 0, 7, 0, 0, 0]);
    assert_eq!(message[16..27], [1, 1, b'o', 0, 2, 0, 0, 0, b'/', b'o', 0]);
    assert_eq!(message[32..44], [2, 1, b's', 0, 3, 0, 0, 0, b'i', b'.', b'f', 0]);
    assert!(message.ends_with(&[8, 1, b'g', 0, 1, b's', 0, 0, 2, 0, 0, 0, b'a', b'b', 0]));
    assert_eq!((message.len() - 7) % 8, 0);
    assert_eq!(remaining_length(message[..16].try_into().unwrap()), Some(message.len() - 16));
}

#[test]
fn an_answer_is_read_back() {
    let message = BusMessage::parse(answer()).unwrap();
    assert_eq!(
        (message.kind, message.reply_serial, message.sender.as_deref()),
        (RETURN, Some(9), Some(":1.4"))
    );
    assert_eq!(message.body("s").unwrap().string().unwrap(), "ab");
    assert!(message.body("u").is_none());
}

#[test]
fn a_message_that_is_too_long_or_not_ours_is_refused_by_its_first_bytes() {
    let prefix = |change: &dyn Fn(&mut [u8; 16])| {
        let mut prefix = *hello().first_chunk().unwrap();
        change(&mut prefix);
        remaining_length(&prefix)
    };
    assert!(prefix(&|_| ()).is_some());
    assert_eq!(prefix(&|p| p[0] = b'B'), None);
    assert_eq!(prefix(&|p| p[3] = 2), None);
    assert_eq!(prefix(&|p| p[4..8].fill(0xff)), None);
    assert_eq!(prefix(&|p| p[12..16].fill(0xff)), None);
    assert_eq!(prefix(&|p| p[6] = 1), None, "more than 64 KiB");
}

#[test]
fn no_bytes_at_all_make_reading_fail_otherwise_than_by_none() {
    let whole = answer();
    for end in 0..whole.len() {
        let _ = BusMessage::parse(whole[..end].to_vec()).and_then(|message| message.body("s")?.string());
    }
    for at in 0..whole.len() {
        for value in [0, 1, 8, 0x7f, 0xff] {
            let mut broken = whole.clone();
            broken[at] = value;
            if let Some(message) = BusMessage::parse(broken) {
                let _ = message.body(&message.signature.clone()).map(|mut body| (body.strings(), body.u32()));
            }
        }
    }
}
