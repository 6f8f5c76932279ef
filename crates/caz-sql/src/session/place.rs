//! Where the queries run, and what `DataFusion` is told there.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::config::SpillCompression;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
#[cfg(feature = "ballista")]
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use caz::{Error, ErrorKind, Result};

/// Where the queries run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this process.
    Here {
        /// Bytes to keep to: what queries hold beyond two thirds of them is spilled to disk.
        memory_limit: Option<usize>,
    },
    /// On a Ballista cluster.
    Ballista {
        /// Host and port of the scheduler.
        scheduler: String,
        /// A folder that this machine and every executor have under the same path, for what the fits
        /// keep from one iteration to the next.
        shared: Option<PathBuf>,
    },
}

/// The most sorts that a query of the plan has at a time.
const SORTS: usize = 8;

/// How many spilled files a sort merges in one pass. Each takes a megabyte or two, which nobody can take
/// back: without a bound a merge opens as many as there is memory, and the sorts that feed the same
/// join find none. A query of the plan has up to eight sorts at a time, so these take half of the
/// pool at most; where there are more files, they are merged in several passes.
fn files_merged_at_once(pool: usize) -> usize {
    const BYTES_A_FILE: usize = 2 << 20;
    (pool / 2 / (SORTS * BYTES_A_FILE)).max(8)
}

/// A session that runs its queries there.
pub(super) async fn context(place: &Place) -> Result<SessionContext> {
    let config = SessionConfig::new().with_information_schema(false);
    match place {
        Place::Here { memory_limit } => {
            let mut config = config;
            let mut runtime = RuntimeEnvBuilder::new();
            if let Some(limit) = memory_limit {
                // What asks before it takes. What does not, the rows on their way and the reading and
                // writing of files, had 1.1 GB beside 2.7 at 200 million labels.
                let pool = limit / 3 * 2;
                // A hash join cannot spill, a sort can.
                config.options_mut().optimizer.prefer_hash_join = false;
                // Every sort keeps this back; those of a query together leave half of the pool.
                let kept_back = &mut config.options_mut().execution.sort_spill_reservation_bytes;
                *kept_back = (*kept_back).min(pool / 2 / SORTS);
                // Labels repeat themselves: what is spilled takes a fraction of the disk so.
                config.options_mut().execution.spill_compression = SpillCompression::Lz4Frame;
                // The disk is what limits the disk.
                let disk = DiskManagerBuilder::default()
                    .with_max_spill_merge_fan_in(files_merged_at_once(pool))
                    .with_max_temp_directory_size(u64::MAX);
                runtime = runtime
                    .with_memory_pool(Arc::new(FairSpillPool::new(pool)))
                    .with_disk_manager_builder(disk);
            }
            let runtime = runtime.build_arc().map_err(|error| {
                Error::of(ErrorKind::Missing, error).context("starting the engine")
            })?;
            Ok(SessionContext::new_with_config_rt(config, runtime))
        }
        #[cfg(feature = "ballista")]
        Place::Ballista { scheduler, .. } => {
            use ballista::prelude::SessionContextExt;
            let state =
                SessionStateBuilder::new_with_default_features().with_config(config).build();
            SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await.map_err(
                |error| {
                    let doing = format!("the Ballista scheduler at {scheduler} does not answer");
                    Error::of(ErrorKind::Network, error).context(doing)
                },
            )
        }
        #[cfg(not(feature = "ballista"))]
        Place::Ballista { .. } => {
            let message = "this build of caz-sql does not speak to Ballista; build it with the feature `ballista`";
            Err(Error::usage(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::files_merged_at_once;

    #[test]
    fn merges_leave_half_of_the_memory() {
        // 4 GiB / 2 / (8 * 2 MiB) = 128; little memory needs several passes anyway.
        assert_eq!(files_merged_at_once(4 << 30), 128);
        assert_eq!(files_merged_at_once(64 << 20), 8);
    }
}
