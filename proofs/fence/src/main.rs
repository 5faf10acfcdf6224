//! Starts the library, which is for Linux.

fn main() -> anyhow::Result<std::process::ExitCode> {
    #[cfg(target_os = "linux")]
    return relaycode_proof_fence::run();
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("this runs on Linux only")
}
