//! Writes the page of all metrics: `cargo run -p posthaste-admin --example metrics_page > docs/metrics.md`.

fn main() {
    print!("{}", posthaste_admin::metrics::page());
}
