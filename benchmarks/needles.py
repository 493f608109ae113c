"""What is hidden in real sessions, and how it is asked for: word by word, and in other words.

Reworded, a question shares no word with its fact but the name of the thing and small words.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Said: TypeAlias = Mapping[str, Sequence[tuple[str, str, str]]]
"""By kind: what is said, the same asked for word by word, and in other words."""

KNOWN: Said = {
    "path": (
        (
            "The deployment manifest of {name} lives in /srv/{a}/{b}/rollout-{n}.yaml.",
            "deployment manifest of {name}",
            "where is the file that describes how {name} gets shipped?",
        ),
        (
            "I put the credentials that {name} needs into /etc/{a}/{b}-{n}.env.",
            "credentials that {name} needs",
            "where did we store the secrets for {name}?",
        ),
        (
            "{name} writes what it logs to /var/log/{a}/{b}-{n}.log.",
            "{name} writes what it logs to",
            "in which folder can I read the output of {name}?",
        ),
        (
            "The database schema for {name} is defined by src/{a}/{b}/schema_{n}.sql.",
            "database schema for {name}",
            "which script creates the tables of {name}?",
        ),
        (
            "Tests covering {name} were moved to tests/{a}/test_{b}_{n}.py.",
            "tests covering {name} were moved to",
            "where are the checks for {name} now?",
        ),
        (
            "Backups of {name} end up under /mnt/{a}/{b}/{n}/.",
            "backups of {name}",
            "what directory has the saved copies of {name}?",
        ),
    ),
    "id": (
        (
            "The incident that took {name} down has the ticket number OPS-{n}{m}.",
            "the incident that took {name} down, ticket number",
            "which case did we open when {name} crashed?",
        ),
        (
            "The pull request which refactors {name} is #{n}{m}.",
            "pull request which refactors {name}",
            "what was the change under review that cleaned up {name}?",
        ),
        (
            "The fix for {name} landed in commit {n}fe{m}a9.",
            "fix for {name} landed in commit",
            "which revision repaired {name}?",
        ),
        (
            "The AWS account that hosts {name} is acct-{n}{m}.",
            "AWS account that hosts {name}",
            "which cloud subscription does {name} run in?",
        ),
        (
            "Customer reports about {name} are tracked as bug BZ-{n}{m}.",
            "customer reports about {name} bug",
            "under what issue did users complain about {name}?",
        ),
        (
            "The container image of {name} is pinned to sha-{n}c{m}d.",
            "container image of {name} pinned",
            "which build of {name} is docker fixed at?",
        ),
    ),
    "error": (
        (
            (
                "{name} stopped with: ConnectionResetError: peer {a}.{b}.internal closed after "
                "{n} bytes"
            ),
            "{name} ConnectionResetError peer closed",
            "what was the failure of {name} when the other side hung up?",
        ),
        (
            "Running {name} raised PermissionError: [Errno 13] Permission denied: '/{a}/{b}/{n}'",
            "running {name} PermissionError",
            "what happened when {name} was not allowed to write?",
        ),
        (
            "{name} died: OutOfMemoryError: Java heap space while loading {a} and {b} ({n})",
            "{name} OutOfMemoryError heap space",
            "how did {name} run out of RAM?",
        ),
        (
            "Importing {name} gives ModuleNotFoundError: No module named '{a}_{b}_{n}'",
            "importing {name} ModuleNotFoundError",
            "which package is missing when loading {name}?",
        ),
        (
            "{name} answers 504 Gateway Timeout after {n} s when {a} calls {b}",
            "{name} answers 504 Gateway Timeout",
            "what do we see when {name} is too slow to respond?",
        ),
        (
            (
                "Parsing the settings of {name} failed: yaml.scanner.ScannerError at line {n} "
                "near {a}: {b}"
            ),
            "parsing settings of {name} ScannerError",
            "what is broken in the config of {name}?",
        ),
    ),
    "decision": (
        (
            (
                "We decided to keep {name} on the {a} queue instead of {b}, because retries cost "
                "{n} ms."
            ),
            "decided to keep {name} on the queue because of retries",
            "what did we choose for {name} and why did we not move it?",
        ),
        (
            "For {name} let's go with {a} rather than {b}: it needs {n} fewer lines.",
            "for {name} go with rather than, fewer lines",
            "which alternative was picked for {name}, being shorter?",
        ),
        (
            "We agreed that {name} will not support {a} any more; {b} covers all {n} users.",
            "agreed that {name} will not support any more",
            "what was dropped from {name} and for what reason?",
        ),
        (
            (
                "The {a} cache in front of {name} was rejected in favour of {b} since staleness "
                "above {n} s hurts."
            ),
            "cache in front of {name} rejected staleness",
            "why is there no caching for {name}?",
        ),
        (
            "{name} gets rewritten in {a}; patching the {b} version would take {n} days.",
            "{name} gets rewritten, patching would take",
            "did we plan to start {name} over or repair it?",
        ),
        (
            "Only admins may delete {name}, as {a} asked for after {b} lost {n} rows.",
            "only admins may delete {name}",
            "who is allowed to remove {name} and what made us restrict it?",
        ),
    ),
    "number": (
        (
            "The cache of {name} may grow to {n}{m} entries before it is flushed.",
            "cache of {name} entries before it is flushed",
            "how big can the buffer of {name} become until it gets emptied?",
        ),
        (
            "{name} listens on port 4{n}.",
            "{name} listens on port",
            "what address number do clients connect to for {name}?",
        ),
        (
            "A request to {name} is cancelled after {n} seconds.",
            "request to {name} cancelled after seconds",
            "what is the timeout of {name}?",
        ),
        (
            "{name} handled {n}{m} orders per minute in the load test.",
            "{name} handled orders per minute load test",
            "how much throughput did the benchmark of {name} show?",
        ),
        (
            "We pay {n} dollars a month for {name}.",
            "pay dollars a month for {name}",
            "how expensive is {name}?",
        ),
        (
            "{name} tries {n} times before it gives up.",
            "{name} tries times before it gives up",
            "how many retries does {name} have?",
        ),
    ),
}
"""Those that the ranking was made with."""

HELD_OUT: Said = {
    "path": (
        (
            "The TLS certificates for {name} are mounted at /opt/{a}/certs/{b}-{n}.pem.",
            "TLS certificates for {name} mounted at",
            "where can I find the encryption keys of {name}?",
        ),
        (
            "The design note about {name} was saved as docs/{a}/{b}-{n}.md.",
            "design note about {name} was saved as",
            "where did somebody write down the architecture of {name}?",
        ),
        (
            "{name} reads its feature flags out of config/{a}/{b}_{n}.toml.",
            "{name} reads its feature flags out of",
            "which settings file switches things on and off in {name}?",
        ),
        (
            "Crash dumps of {name} get collected in /data/{a}/{b}/core-{n}/.",
            "crash dumps of {name} get collected in",
            "what folder do I look into after {name} broke?",
        ),
        (
            "The generated client for {name} goes into packages/{a}/src/{b}{n}.ts.",
            "generated client for {name} goes into",
            "where is the code produced that talks to {name}?",
        ),
        (
            "The seed data of {name} sits in fixtures/{a}/{b}-{n}.json.",
            "seed data of {name} sits in",
            "what file has the sample records for {name}?",
        ),
    ),
    "id": (
        (
            "The security advisory about {name} got the number CVE-2031-{n}{m}.",
            "security advisory about {name} got the number",
            "what is the vulnerability in {name} called?",
        ),
        (
            "{name} shipped in release v{n}.{m}.",
            "{name} shipped in release",
            "since which version do customers have {name}?",
        ),
        (
            "The nightly job of {name} runs as pipeline PL-{n}{m}.",
            "nightly job of {name} runs as pipeline",
            "which CI build covers {name} after midnight?",
        ),
        (
            "The trace of the slow call through {name} is tr-{n}e{m}.",
            "trace of the slow call through {name}",
            "which span shows the latency of {name}?",
        ),
        (
            "The contract for {name} was signed under reference LGL-{n}{m}.",
            "contract for {name} was signed under reference",
            "what document did the lawyers agree to about {name}?",
        ),
        (
            "The dashboard watching {name} is board-{n}{m}.",
            "dashboard watching {name}",
            "on which page do we monitor {name}?",
        ),
    ),
    "error": (
        (
            "{name} exits with: panic: runtime error: index out of range [{n}] in {a}.{b}",
            "{name} exits with panic index out of range",
            "how does {name} blow up on the list access?",
        ),
        (
            "Deploying {name} fails: ImagePullBackOff for {a}/{b}:{n}",
            "deploying {name} fails ImagePullBackOff",
            "what goes wrong when {name} is rolled out to the cluster?",
        ),
        (
            "{name} logs 'FATAL: too many connections for role {a}_{b}' ({n} open)",
            "{name} logs FATAL too many connections",
            "why can nobody log in to the database behind {name}?",
        ),
        (
            (
                "Compiling {name}: error TS2345: Argument of type '{a}' is not assignable to "
                "'{b}' (line {n})"
            ),
            "compiling {name} error TS2345",
            "which type mismatch stops the build of {name}?",
        ),
        (
            "{name} could not bind: OSError: [Errno 98] Address already in use ({a}, {b}, {n})",
            "{name} could not bind OSError address already in use",
            "what is the problem with the port that {name} wants?",
        ),
        (
            "Verifying {name} reports: checksum mismatch, expected {a}{n}, got {b}{n}",
            "verifying {name} reports checksum mismatch",
            "in what way is the download of {name} corrupt?",
        ),
    ),
    "decision": (
        (
            "{name} stays single-threaded: locks around {a} and {b} made it {n} percent slower.",
            "{name} stays single-threaded, locks made it slower",
            "why doesn't {name} use concurrency?",
        ),
        (
            "Let's postpone {name} until {a} is done, {b} has only {n} people.",
            "let's postpone {name} until",
            "when do we begin with {name} and what are we waiting for?",
        ),
        (
            "For {name} we prefer {a} over {b}, since it is {n} times cheaper.",
            "for {name} we prefer, cheaper",
            "what was selected for {name} to save money?",
        ),
        (
            "Nobody outside of {a} gets access to {name}; the audit found {n} leaks at {b}.",
            "nobody outside gets access to {name}, audit leaks",
            "who may see {name} and why so strict?",
        ),
        (
            "{name} will be open source: {a} insisted, {b} had {n} objections.",
            "{name} will be open source",
            "did we agree to publish {name}?",
        ),
        (
            "We merge {name} into {a} and retire {b}, which saves {n} machines.",
            "we merge {name} into and retire",
            "what becomes of {name}: is it kept apart?",
        ),
    ),
    "number": (
        (
            "{name} keeps deleted rows for {n} days.",
            "{name} keeps deleted rows for days",
            "what is the retention period of {name}?",
        ),
        (
            "At most {n} people may use {name} at once.",
            "at most people may use {name} at once",
            "how many concurrent users does {name} allow?",
        ),
        (
            "{name} occupies {n}{m} megabytes of memory when idle.",
            "{name} occupies megabytes of memory when idle",
            "how much RAM does {name} need doing nothing?",
        ),
        (
            "The coverage of {name} went up to {n} lines.",
            "coverage of {name} went up to lines",
            "how much of {name} is tested?",
        ),
        (
            "{name} compares scores against a threshold of 0.{n}.",
            "{name} compares scores against a threshold of",
            "from what value on does {name} accept a match?",
        ),
        (
            "A full rebuild of {name} takes {n} minutes.",
            "full rebuild of {name} takes minutes",
            "how long do we wait to compile {name} from scratch?",
        ),
    ),
}
"""Written when the ranking was finished; nothing was changed for them."""
