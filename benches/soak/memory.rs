//! Private memory of this process. Owns: reading it; where the system does not tell, there is none.

/// Resident memory that belongs to no file, in MiB.
pub(crate) fn private_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}
