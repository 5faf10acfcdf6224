//! The terminal for tests: small shell scripts draw, and it shows what a person would see.

use std::time::{Duration, Instant};

use relaycode_testkit::screen::{TestScreen, on_terminal};
use rustix::process::Signal;

const LIMIT: Duration = Duration::from_secs(20);

fn shell(script: &str, columns: u16, rows: u16) -> TestScreen {
    let mut command = on_terminal("sh");
    command.args(["-c", script]);
    TestScreen::start(command, columns, rows)
}

#[test]
fn it_shows_what_a_person_would_see() {
    let mut screen = shell(r"printf 'one\ntwo   \n\rthree\033[2;2HW\033[4;1H'; exit 3", 20, 5);
    assert_eq!(screen.wait_exit().code(), Some(3));
    assert_eq!(screen.text(), "one\ntWo\nthree");
    assert!(screen.raw().starts_with(b"one\r\ntwo"));
    assert_eq!(screen.with_emulator(vt100::Screen::cursor_position), (3, 0));
}

#[test]
fn colours_are_in_words() {
    let script = r"printf '\033[32m+12\033[0m \033[1;38;5;214;48;2;1;2;3mx y\033[m \033[91;7m世\033[m.  \n'";
    let mut screen = shell(script, 40, 5);
    screen.wait_exit();
    let expected = "{green}+12{/} {bold colour-214 on #010203}x y{/} {inverse bright-red}世{/}.";
    assert_eq!(screen.coloured(), expected);
}

#[test]
fn what_scrolled_off_is_kept() {
    let mut screen = shell("i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo line $i; done", 20, 6);
    screen.wait_exit();
    let lines: Vec<String> = (1..=500).map(|number| format!("line {number}")).collect();
    assert_eq!(screen.scrollback_text(), lines.join("\n"));
    assert_eq!(screen.text(), lines[495..].join("\n"));
    screen.wait_for_line("line 7\n");
}

#[test]
fn resizing_comes_to_the_program() {
    let script = "trap 'echo now $(stty size)' WINCH; stty size; while :; do read -r x && echo got $x; done";
    let screen = shell(script, 80, 24);
    screen.wait_for_text("24 80");
    screen.resize(20, 7);
    screen.type_keys("go\r");
    screen.wait_for_text("now 7 20");
    assert_eq!(screen.with_emulator(vt100::Screen::size), (7, 20));
}

#[test]
fn a_paste_is_in_brackets_only_if_the_program_asked() {
    let script = r"stty raw -echo; printf 'ready\r\n'; dd bs=1 count=4 2>/dev/null | od -An -c
                   printf '\033[?2004hbrackets\r\n'; dd bs=1 count=16 2>/dev/null | od -An -c; printf done";
    let mut screen = shell(script, 80, 24);
    screen.wait_for_text("ready");
    screen.paste("a\nb\n");
    screen.wait_for_text("brackets");
    screen.paste("x\x1b[201~\r\ny!");
    screen.wait_for_text("done");
    let text = screen.text();
    assert!(text.contains(r"a  \r   b  \r"), "{text}");
    assert!(text.contains(r"033   [   2   0   0   ~   x  \r   y   ! 033   [   2   0   1   ~"), "{text}");
    screen.wait_exit();
}

#[test]
fn keys_that_were_typed_before_are_there() {
    let mut command = on_terminal("sh");
    command.args(["-c", "read -r line; echo \"<$line>\""]);
    let mut screen = TestScreen::start_after(command, 40, 5, "early\n");
    assert!(screen.wait_exit().success());
    assert!(screen.text().contains("<early>"), "{}", screen.text());
}

#[test]
fn an_interrupt_and_a_hang_up_reach_the_program() {
    let mut screen = shell("trap 'echo caught' INT; echo ready; read -r x; read -r x; echo $x", 40, 8);
    screen.wait_for_text("ready");
    screen.type_keys("\x03");
    screen.wait_for_text("caught");
    screen.hang_up();
    let status = screen.wait_exit();
    assert!(!status.success(), "{status}");
    let mut screen = shell("echo ready; exec cat", 40, 8);
    screen.wait_for_text("ready");
    assert!(screen.try_exit_status().is_none());
    screen.signal(Signal::TERM);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&screen.wait_exit()), Some(15));
}

#[test]
fn what_a_program_uses_is_known() {
    let screen = shell("echo ready; read -r x; while :; do :; done", 40, 8);
    screen.wait_for_text("ready");
    let idle = screen.cpu_time();
    assert!((64 << 10..64 << 20).contains(&screen.rss()), "{}", screen.rss());
    screen.type_keys("\r");
    let busy = Duration::from_millis(30);
    screen.wait_for(|_| true, LIMIT);
    let began = Instant::now();
    while screen.cpu_time() < idle + busy {
        assert!(began.elapsed() < LIMIT);
    }
}

#[test]
fn a_failure_shows_the_screen() {
    let screen = shell("echo something else; exec cat", 40, 8);
    screen.wait_for_text("else");
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        screen.wait_for(|screen| screen.text().contains("nothing"), Duration::from_millis(1));
    }));
    let said = failed.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("| something else"), "{said}");
}

#[test]
fn a_program_ends_with_its_terminal() {
    let screen = shell("trap '' HUP TERM; echo ready; while :; do read -r x; done", 40, 8);
    screen.wait_for_text("ready");
    let process = format!("/proc/{}", screen.pid().as_raw_nonzero());
    drop(screen);
    assert!(!std::path::Path::new(&process).exists());
}
