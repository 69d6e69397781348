//! Arguments of the command on certificates.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const CERTS_EXAMPLES: &str = "\
  posthaste certs make --queue-manager QM1 --client app1
  posthaste certs show certs/qm1.p12

The first makes certs/qm1.p12 for SSLKEYR of the queue manager, certs/app1.p12 for MQSSLKEYR of a
client, their passwords beside them, and certs/authority.pem for those who are to trust both.";

#[derive(Args, Debug)]
#[command(after_help = CERTS_EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Certs {
    #[command(subcommand)]
    pub(crate) command: CertsCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CertsCommand {
    /// Make an authority, if the folder has none, and certificates that it issues
    Make(MakeCerts),
    /// Show the certificates in a PKCS#12 or PEM file; exit code 3 if one of them is out of its time
    Show(ShowCerts),
}

#[derive(Args, Debug)]
pub(crate) struct MakeCerts {
    /// Folder for them
    #[arg(long, value_name = "DIR", default_value = "certs")]
    pub(crate) directory: PathBuf,
    /// A queue manager that gets one; may be given again
    #[arg(long = "queue-manager", value_name = "NAME")]
    pub(crate) queue_managers: Vec<String>,
    /// A client that gets one: the user it runs as; may be given again
    #[arg(long = "client", value_name = "USER")]
    pub(crate) clients: Vec<String>,
    /// Host names and addresses of the queue managers
    #[arg(long = "host", value_name = "HOST", default_values = ["localhost", "127.0.0.1"])]
    pub(crate) hosts: Vec<String>,
    /// Days that they are valid
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=3650))]
    pub(crate) days: u16,
    /// With EC keys, for the ECDSA CipherSpecs, instead of RSA
    #[arg(long)]
    pub(crate) ec: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowCerts {
    /// The key repository
    pub(crate) file: PathBuf,
    /// Read its password from this file, instead of the one beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}
