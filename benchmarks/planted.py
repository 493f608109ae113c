"""Decisions to plant in real sessions, with questions that use other words than they were said in.

The judging was tuned with `PLANTED` and `ABSENT`, later with the second and the third set as well.
`HELD_OUT` and `ABSENT_HELD_OUT` were written when that was done, and nothing was changed for them.
The questions under `ABSENT` ask for what
nobody decided: half of them are about something that another decision is about.
"""

from typing import Literal

from msgspec import Struct


class Planted(Struct, frozen=True):
    """A decision as it was said, and ways to ask for it."""

    by: Literal["user", "assistant"]
    said: str
    answer: str
    """What a right answer holds."""
    asked: tuple[str, ...]
    before: str = ""
    """An older decision that this one takes the place of, said earlier in the same session."""


PLANTED: tuple[Planted, ...] = (
    Planted(
        "user",
        "Let's go with PostgreSQL for the ledger data, because several services write at once.",
        "PostgreSQL",
        (
            "Which database did we choose for the ledger?",
            "What do we store ledger data in, and why?",
            "What engine holds the ledger records?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to sign tokens with RS256 rather than HS256, so that other services can verify "
        "them without the shared secret.",
        "RS256",
        (
            "What signing algorithm was picked for the tokens?",
            "How are tokens signed?",
            "Which signature scheme do our tokens use?",
        ),
    ),
    Planted(
        "user",
        "Use JWT instead of server side sessions, the mobile app needs it stateless.",
        "JWT",
        (
            "What authentication approach was decided for the mobile app?",
            "Why don't we use server sessions for login?",
            "How do users authenticate in the mobile app?",
        ),
    ),
    Planted(
        "assistant",
        "Going with a token bucket for throttling, since bursts of up to 50 calls are legitimate.",
        "token bucket",
        (
            "How do we throttle bursts of calls?",
            "Which rate limiting method did we settle on?",
            "What was chosen to limit how often clients can call?",
        ),
    ),
    Planted(
        "user",
        "We'll use Kafka for order events, and keep RabbitMQ out of it.",
        "Kafka",
        (
            "Which message broker carries the order events?",
            "What did we decide to publish order events with?",
            "What transports events about orders?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: uploads go to object storage rather than to the local disk, because pods are "
        "ephemeral.",
        "object storage",
        (
            "Where do uploaded files go?",
            "What was decided about storing uploads?",
            "Where should an upload be saved?",
        ),
    ),
    Planted(
        "user",
        "The nightly export must never run before 02:00 UTC.",
        "02:00 UTC",
        (
            "When may the nightly export run?",
            "What is the earliest time for the export at night?",
            "At what hour can we start the nightly exporting?",
        ),
    ),
    Planted(
        "assistant",
        "I chose exponential backoff with five retries for the payment webhook, because the bank "
        "drops connections at peak times.",
        "exponential backoff",
        (
            "How often do we retry the payment webhook?",
            "What is the retry strategy for webhooks from payments?",
            "What happens when delivering the payment webhook fails?",
        ),
    ),
    Planted(
        "user",
        "I prefer tabs of four spaces in the Terraform modules, no hard tabs.",
        "four spaces",
        (
            "What indentation do the Terraform modules use?",
            "How are Terraform files indented?",
            "Which whitespace style applies to our Terraform?",
        ),
    ),
    Planted(
        "assistant",
        "We're going with feature flags in LaunchDarkly instead of environment variables, so the "
        "product team can flip them.",
        "LaunchDarkly",
        (
            "How are features toggled?",
            "What do we use for feature flags?",
            "Which system switches features on and off?",
        ),
    ),
    Planted(
        "user",
        "Keep audit logs for 400 days instead of 90, the regulator asked for it.",
        "400 days",
        (
            "How long are audit logs retained?",
            "What retention was decided for the audit log?",
            "For how many days must we hold on to audit records?",
        ),
    ),
    Planted(
        "assistant",
        "I'll go with cursor pagination for the invoices endpoint, because offsets get slow past "
        "a million rows.",
        "cursor pagination",
        (
            "How does the invoices endpoint paginate?",
            "Which paging approach did we take for invoices?",
            "How do clients page through invoices?",
        ),
    ),
    Planted(
        "user",
        "Do not touch the registration flow while you work on the login page.",
        "registration flow",
        (
            "May I change registration?",
            "Is the sign up and registration code off limits?",
            "Can the registration flow be modified?",
        ),
    ),
    Planted(
        "assistant",
        "Decided to render the invoices with WeasyPrint, because headless Chrome needs 400 MB in "
        "the container.",
        "WeasyPrint",
        (
            "What renders invoices to PDF?",
            "Why did we not render invoices with Chrome?",
            "Which library produces the invoice documents?",
        ),
    ),
    Planted(
        "user",
        "Let's use pnpm instead of npm in the frontend workspace.",
        "pnpm",
        (
            "Which package manager does the frontend use?",
            "What do I install frontend dependencies with?",
            "npm or something else in the frontend workspace?",
        ),
    ),
    Planted(
        "assistant",
        "I opted for optimistic locking with a version column on accounts, since conflicts are "
        "rare and long transactions are not.",
        "optimistic locking",
        (
            "How do we handle concurrent updates of accounts?",
            "What locking is used for the accounts table?",
            "Which kind of lock protects an account row?",
        ),
    ),
    Planted(
        "user",
        "Passwords have to be hashed with argon2id, nothing else.",
        "argon2id",
        (
            "What hash do we use for passwords?",
            "How should a password be stored?",
            "Which password hashing function is required?",
        ),
    ),
    Planted(
        "assistant",
        "Going with Playwright rather than Cypress for browser tests, because Safari must be "
        "covered.",
        "Playwright",
        (
            "Which tool runs the browser tests?",
            "Why was Cypress turned down?",
            "What drives our end-to-end checks in the browser?",
        ),
    ),
    Planted(
        "user",
        "Let's keep the search index in Meilisearch, Elasticsearch is too heavy for two nodes.",
        "Meilisearch",
        (
            "What powers the search index?",
            "Did we go for Elasticsearch?",
            "Which search engine was selected?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: money is stored as integer cents instead of floats, to avoid rounding errors.",
        "integer cents",
        (
            "How do we represent money?",
            "In what format are amounts of money stored?",
            "Which number type holds monetary values?",
        ),
    ),
    Planted(
        "user",
        "We should use UTC everywhere in the scheduler and convert only when showing times.",
        "UTC everywhere",
        (
            "What timezone does the scheduler work in?",
            "How does the scheduler deal with time zones?",
            "In which zone are scheduler times kept?",
        ),
    ),
    Planted(
        "assistant",
        "I chose gRPC between the pricing service and the cart, because the schema is shared and "
        "latency matters.",
        "gRPC",
        (
            "How do the cart and pricing services talk to each other?",
            "Which protocol connects pricing with the cart?",
            "What does the cart use to call pricing?",
        ),
    ),
    Planted(
        "user",
        "The public API must stay backwards compatible with version 2 clients.",
        "version 2 clients",
        (
            "Which clients does the public API need to keep supporting?",
            "Can we break compatibility of the public API?",
            "What compatibility promise holds for the public interface?",
        ),
    ),
    Planted(
        "assistant",
        "I'm going with a monthly partition of the events table instead of sharding, since old "
        "months can be dropped at once.",
        "monthly partition",
        (
            "How is the events table split up?",
            "Why didn't we shard the events table?",
            "What partitioning was chosen for events?",
        ),
    ),
    Planted(
        "user",
        "Let's go with Svelte for the admin dashboard.",
        "Svelte",
        (
            "What frontend framework is the admin dashboard built with?",
            "What did the user want for the admin dashboard?",
            "Which UI framework do we write the admin panel in?",
        ),
    ),
    Planted(
        "assistant",
        "Decided to compress backups with zstd at level 9, because gzip took four hours.",
        "zstd",
        (
            "How are backups compressed?",
            "Which compression was chosen for the backup?",
            "What do we shrink backups with?",
        ),
    ),
    Planted(
        "user",
        "Never send marketing mail from the transactional domain.",
        "transactional domain",
        (
            "Which domain must not be used for marketing mail?",
            "Can marketing emails go out over the transactional domain?",
            "Is there a rule about where promotional mail is sent from?",
        ),
    ),
    Planted(
        "assistant",
        "I'll stick with a single binary and systemd units instead of Kubernetes, so that the two "
        "person team can run it.",
        "systemd",
        (
            "How do we deploy, and why not on Kubernetes?",
            "What was decided instead of Kubernetes?",
            "How will the team run the service in production?",
        ),
    ),
    Planted(
        "user",
        "Switch to trunk based development, the long release branches are over.",
        "trunk based",
        (
            "What branching model do we follow?",
            "Do we still have release branches?",
            "How are branches organised in git?",
        ),
    ),
    Planted(
        "assistant",
        "We decided to cap image thumbnails at 640 pixels, because the CDN bills by the byte.",
        "640 pixels",
        (
            "How large may thumbnails of images be?",
            "What is the maximum size of a thumbnail?",
            "How many pixels wide can a thumbnail get?",
        ),
    ),
    Planted(
        "user",
        "Actually, switch to SQLite for the settings cache, Redis is one more thing to run.",
        "SQLite for the settings cache",
        (
            "What backs the settings cache?",
            "Where is the cache of settings held now?",
            "Which store does the settings cache live in?",
        ),
        before="Let's use Redis for the settings cache.",
    ),
    Planted(
        "user",
        "Switch from weekly to daily digests for the newsletter, people asked for it.",
        "daily digests",
        (
            "How often does the newsletter digest go out?",
            "Is the newsletter weekly?",
            "What is the newsletter's frequency these days?",
        ),
        before="We'll use weekly digests for the newsletter.",
    ),
    Planted(
        "assistant",
        "I'm switching to msgpack for the wire between agents instead of JSON, because payloads "
        "shrank by half.",
        "msgpack",
        (
            "In which encoding do agents exchange payloads?",
            "What format goes over the wire between agents?",
            "How are messages between agents serialized?",
        ),
        before="I decided to use JSON on the wire between agents.",
    ),
    Planted(
        "user",
        "Changed my mind: use the Stripe checkout rather than our own payment form.",
        "Stripe checkout",
        (
            "Do we build our own payment form?",
            "What do customers pay with at checkout?",
            "Who handles the checkout of payments?",
        ),
        before="Let's go with our own payment form.",
    ),
    Planted(
        "assistant",
        "Switched to blue/green releases instead of rolling updates, because the migration locks "
        "the table for minutes.",
        "blue/green",
        (
            "How are releases rolled out?",
            "What replaced the rolling updates?",
            "Which release strategy do we have now?",
        ),
        before="We're going with rolling updates for releases.",
    ),
    Planted(
        "user",
        "The mobile client must work offline for at least three days.",
        "three days",
        (
            "How long does the mobile client have to work without a connection?",
            "What is required of the mobile client when offline?",
            "For how long should offline use of the mobile client be possible?",
        ),
    ),
    Planted(
        "assistant",
        "Opting for OpenTelemetry over a vendor agent for tracing, because we may change the "
        "vendor next year.",
        "OpenTelemetry",
        (
            "What do we use for tracing?",
            "Why no vendor agent for traces?",
            "Which observability library produces traces?",
        ),
    ),
    Planted(
        "user",
        "Let's call the new package quillmark, and leave the old name to the archive.",
        "quillmark",
        (
            "What is the name of the new package?",
            "How did we call the package?",
            "Under which name does the package ship?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: errors are returned as problem+json with a code, rather than as plain strings.",
        "problem+json",
        (
            "In what format do we return errors?",
            "What shape do error responses have?",
            "How does the service report errors to callers?",
        ),
    ),
    Planted(
        "user",
        "I want you to use table driven tests in the parser package, no testify.",
        "table driven tests",
        (
            "What style of tests does the parser package use?",
            "How should the parser be tested?",
            "Are we allowed to use testify in the parser package?",
        ),
    ),
    Planted(
        "user",
        "Let's go with Azure for the staging environment, the credits run until March.",
        "Azure",
        ("Which cloud is staging hosted on?", "Where does the staging environment run?"),
    ),
    Planted(
        "assistant",
        "I decided to validate incoming forms with zod rather than by hand, because the types are "
        "inferred from it.",
        "zod",
        ("What validates incoming forms?", "How do we check form input?"),
    ),
    Planted(
        "user",
        "Reports must be delivered to the board by the fifth of each month.",
        "fifth of each month",
        ("When are board reports due?", "By when does the board have to get its reports?"),
    ),
    Planted(
        "assistant",
        "Going with soft deletes on projects, since support has to restore them now and then.",
        "soft deletes",
        ("What happens when a project is deleted?", "How are projects removed?"),
    ),
    Planted(
        "user",
        "Use Vault for credentials instead of environment files.",
        "Vault",
        ("Where do credentials live?", "How are secrets and credentials managed?"),
    ),
    Planted(
        "assistant",
        "We're going with WebSockets for the chat, because polling drained the batteries.",
        "WebSockets",
        ("Which protocol does the chat use?", "Why does the chat not poll?"),
    ),
    Planted(
        "user",
        "Never log the social security number of a patient.",
        "social security number",
        ("What patient data must not be logged?", "May social security numbers be logged?"),
    ),
    Planted(
        "assistant",
        "Decision: the importer reads spreadsheets in chunks of 5,000 rows, to avoid running out "
        "of memory.",
        "5,000 rows",
        (
            "How many rows does the importer read at once?",
            "What chunk size does the spreadsheet import have?",
        ),
    ),
    Planted(
        "user",
        "I prefer snake case for the column names of the warehouse tables.",
        "snake case",
        (
            "How are warehouse columns named?",
            "What naming convention applies to the columns in the warehouse?",
        ),
    ),
    Planted(
        "assistant",
        "I chose Typst over LaTeX for the certificates, because it compiles in milliseconds.",
        "Typst",
        ("What typesets the certificates?", "Why was LaTeX rejected for certificates?"),
    ),
    Planted(
        "user",
        "We'll use GitHub Actions for the pipeline, Jenkins goes away in spring.",
        "GitHub Actions",
        ("What does our CI pipeline run on?", "Which pipeline tool replaces Jenkins?"),
    ),
    Planted(
        "assistant",
        "I opted for a read replica in Frankfurt instead of a bigger primary, since ninety percent "
        "of the load is reads.",
        "read replica",
        ("How did we deal with the load of reads?", "What is located in Frankfurt?"),
    ),
    Planted(
        "user",
        "The kiosk firmware must boot in under eight seconds.",
        "eight seconds",
        (
            "How fast does the kiosk have to boot?",
            "What is the limit for the boot time of the kiosk?",
        ),
    ),
    Planted(
        "assistant",
        "Going with Arrow files between the notebooks rather than CSV, because types survive.",
        "Arrow",
        (
            "In which format do notebooks exchange data?",
            "What replaced CSV between the notebooks?",
        ),
    ),
    Planted(
        "user",
        "Switch to annual billing for schools, monthly invoices annoyed them.",
        "annual billing",
        ("How are schools billed?", "How often do schools get a bill?"),
        before="Let's go with monthly billing for schools.",
    ),
    Planted(
        "assistant",
        "I'm switching to Mapbox tiles instead of Google Maps for the delivery view, because of "
        "the quota.",
        "Mapbox",
        ("Which map provider does the delivery view use?", "Where do the map tiles come from?"),
        before="I decided to use Google Maps for the delivery view.",
    ),
    Planted(
        "user",
        "Let's keep translations in gettext files, translators know them.",
        "gettext",
        ("How are translations stored?", "Which file format do translators work with?"),
    ),
    Planted(
        "assistant",
        "Decided to pin the compiler to version 1.78, since the newer one miscompiles the codec.",
        "1.78",
        ("Which compiler version do we build with?", "Why is the compiler pinned?"),
    ),
    Planted(
        "user",
        "Do not add any dependency to the embedded agent without asking me.",
        "embedded agent",
        (
            "May I add a dependency to the embedded agent?",
            "What is the rule for new dependencies in the embedded agent?",
        ),
    ),
    Planted(
        "assistant",
        "We decided to sync calendars every fifteen minutes rather than by push, because two of "
        "the providers have no push.",
        "fifteen minutes",
        ("How often are calendars synced?", "What is the sync interval of calendars?"),
    ),
)

ABSENT: tuple[str, ...] = (
    # About something that another decision is about.
    "Who pays for the PostgreSQL licence?",
    "How many partitions does the Kafka cluster get?",
    "When do uploaded files expire?",
    "Which colour does the admin dashboard have?",
    "What is the rate limit for anonymous search queries?",
    "How long do invoices have to be archived?",
    "What happens to accounts of deleted customers?",
    "Which regions are thumbnails delivered from?",
    "Who reviews changes of the Terraform modules?",
    "What is the maximum length of a password?",
    "Which currency do payouts in the marketplace use?",
    "How many replicas does the search cluster have?",
    "Where are the encryption keys of the backups kept?",
    "How old must a newsletter subscriber be?",
    "Which phone models does the mobile client support?",
    "What discount does the pricing service give to resellers?",
    "How do we translate the login page into Polish?",
    "Which licence is the package published under?",
    "Who is on call for the payment webhook?",
    "What is the sampling rate of traces?",
    # About something nobody spoke of.
    "Which GraphQL client did we choose?",
    "What did we decide about the onboarding video?",
    "How are medical records anonymised?",
    "Which font does the printed brochure use?",
    "What is our policy for accepting bitcoin?",
    "Which Bluetooth profile does the headset need?",
    "How is the thermostat calibrated?",
    "What was decided about hiring a translator in Lisbon?",
    "Which speech recognition vendor won the tender?",
    "How do drones avoid the power lines?",
    "What altitude do we fly the survey at?",
    "Which chess opening does the bot play?",
    "How is the greenhouse irrigated?",
    "What did we choose for subtitling the lectures?",
    "Which blockchain records the ownership of artworks?",
    "How many lifeguards does the swimming pool need?",
    "What is the dress code for the gala dinner?",
    "Which vaccine schedule applies to the puppies?",
    "How do we ferment the second batch of cider?",
    "What was agreed about parking for visitors?",
    "How many people can join a chat?",
    "Which currency are schools billed in?",
    "What is the battery capacity of the kiosk?",
    "Who signs the certificates?",
    "Which languages do we translate into?",
    "What does the staging environment cost?",
    "How many columns may a spreadsheet have?",
    "Which calendar providers do we support in Japan?",
    "What colour are the map markers?",
    "Who is allowed to read the board reports?",
    "What did we decide about the coffee machine?",
    "Which telescope takes the calibration frames?",
    "How are expense receipts scanned?",
    "What is the holiday policy for contractors?",
    "Which orchestra records the soundtrack?",
    "How do we weigh the parcels?",
    "What was agreed on royalties for the audiobook?",
    "Which turbine model was ordered?",
    "How deep is the foundation of the tower?",
    "What did we settle on for wedding invitations?",
)

SECOND: tuple[Planted, ...] = (
    Planted(
        "user",
        "Let's go with offline tiles for the hiking view, coverage is poor up there.",
        "offline tiles",
        ("What does the hiking view show its map from?", "Which tiles did we pick for hiking?"),
    ),
    Planted(
        "assistant",
        "I chose a bloom filter in front of the blocklist, because most lookups miss.",
        "bloom filter",
        ("What stands in front of the blocklist?", "How do we speed up blocklist lookups?"),
    ),
    Planted(
        "user",
        "The referral bonus must never exceed 50 euros per customer.",
        "50 euros",
        ("How high may the referral bonus be?", "What is the limit of the referral bonus?"),
    ),
    Planted(
        "assistant",
        "Decision: voice notes are transcribed on the device rather than on a server, for privacy.",
        "on the device",
        ("Where does transcription of voice notes happen?", "How are voice notes transcribed?"),
    ),
    Planted(
        "user",
        "Use Ansible instead of shell scripts for the office machines.",
        "Ansible",
        ("How do we set up the office machines?", "What manages machines in the office?"),
    ),
    Planted(
        "assistant",
        "Going with server-sent events for the progress bar, since nothing is sent back.",
        "server-sent events",
        ("How does the progress bar get its updates?", "Which protocol feeds the progress bar?"),
    ),
    Planted(
        "user",
        "Do not store the date of birth of minors anywhere.",
        "date of birth",
        ("What must not be stored about minors?", "May we store when a minor was born?"),
    ),
    Planted(
        "assistant",
        "We decided to round shipping weights up to full kilograms, because the carrier does so.",
        "full kilograms",
        ("How are shipping weights rounded?", "To what unit do we round the weight of a shipment?"),
    ),
    Planted(
        "user",
        "I prefer British spelling in the handbook.",
        "British spelling",
        (
            "Which spelling does the handbook follow?",
            "How should words in the handbook be spelled?",
        ),
    ),
    Planted(
        "assistant",
        "I opted for DuckDB rather than Spark for the monthly report, because the data fits in "
        "memory.",
        "DuckDB",
        ("What computes the monthly report?", "Why did we not take Spark?"),
    ),
    Planted(
        "user",
        "Switch to passkeys for the partner portal, nobody remembers passwords.",
        "passkeys",
        ("How do partners log in to the portal?", "What authentication has the partner portal?"),
        before="Let's go with passwords for the partner portal.",
    ),
    Planted(
        "assistant",
        "I'm switching to Terraform Cloud instead of local state files, because two people applied "
        "at once.",
        "Terraform Cloud",
        ("Where is the Terraform state kept?", "What replaced the local state files?"),
        before="I decided to use local state files for Terraform.",
    ),
    Planted(
        "user",
        "Interviews are recorded only after the candidate agreed in writing.",
        "in writing",
        ("When may interviews be recorded?", "What is needed before an interview is recorded?"),
    ),
    Planted(
        "assistant",
        "Decided to batch push notifications every ten minutes, since phones were buzzing all day.",
        "ten minutes",
        ("How often are push notifications sent?", "Why are notifications batched?"),
    ),
    Planted(
        "user",
        "We'll use Figma tokens as the source of all colours.",
        "Figma tokens",
        ("Where do the colours come from?", "What is the source of colours in the design?"),
    ),
    Planted(
        "assistant",
        "I'll stick with polling the warehouse scanner, because its firmware has no webhooks.",
        "polling",
        ("How do we read the warehouse scanner?", "Why is there no webhook for the scanner?"),
    ),
    Planted(
        "user",
        "Let's call the command line tool brindle.",
        "brindle",
        ("What is the command line tool called?", "Which name did we give the command line tool?"),
    ),
    Planted(
        "assistant",
        "Going with a circuit breaker around the tax service, because its outages took us down.",
        "circuit breaker",
        (
            "What protects us from outages of the tax service?",
            "How do we handle failures of the tax service?",
        ),
    ),
    Planted(
        "user",
        "All prices are shown including VAT.",
        "including VAT",
        ("Are prices shown with or without VAT?", "How do we display prices?"),
    ),
    Planted(
        "assistant",
        "Decision: the archive keeps one snapshot per quarter instead of all of them, to save "
        "space.",
        "one snapshot per quarter",
        ("How many snapshots does the archive keep?", "Which snapshots stay in the archive?"),
    ),
    Planted(
        "user",
        "Let's go with Mapbox for the route planner, Google is too expensive at our volume.",
        "Mapbox",
        (
            "Which map provider does the route planner use?",
            "Who supplies maps for planning routes?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to keep drafts in IndexedDB, because localStorage is too small for attachments.",
        "IndexedDB",
        (
            "Where are drafts kept?",
            "What browser storage holds the drafts?",
        ),
    ),
    Planted(
        "user",
        "Refunds above 200 euros need a second signature.",
        "200 euros",
        (
            "From which amount does a refund need two signatures?",
            "When is a second signature needed for refunds?",
        ),
    ),
    Planted(
        "assistant",
        "Going with a write-ahead queue for telemetry, since gateways lose their uplink for hours.",
        "write-ahead queue",
        (
            "How does telemetry survive a lost uplink?",
            "What did we choose for telemetry when gateways are offline?",
        ),
    ),
    Planted(
        "user",
        "Use Zod rather than Joi to validate the forms.",
        "Zod",
        (
            "Which library validates the forms?",
            "How do we validate form input?",
        ),
    ),
    Planted(
        "assistant",
        "I chose cursor pagination for the audit trail, because rows keep arriving while "
        "people scroll.",
        "cursor pagination",
        (
            "How is the audit trail paged?",
            "What kind of pagination does the audit trail have?",
        ),
    ),
    Planted(
        "user",
        "Never send customer addresses to the translation service.",
        "customer addresses",
        (
            "What may not be sent to the translation service?",
            "Can we pass addresses of customers on to the translators?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: nightly exports are written as Parquet instead of CSV, since analysts "
        "load them into DuckDB.",
        "Parquet",
        (
            "What format do the nightly exports have?",
            "How are exports for the analysts written?",
        ),
    ),
    Planted(
        "user",
        "We'll have the chatbot answer in the language of the visitor, falling back to English.",
        "language of the visitor",
        (
            "In which language does the chatbot answer?",
            "What language does the bot reply in?",
        ),
    ),
    Planted(
        "assistant",
        "I'll go with argon2id at 64 MB for the vault passphrase, because phones have to "
        "open it too.",
        "argon2id",
        (
            "How is the vault passphrase derived?",
            "Which key derivation protects the vault?",
        ),
    ),
    Planted(
        "user",
        "The beta is limited to 300 households.",
        "300 households",
        (
            "How many households take part in the beta?",
            "What is the size of the beta?",
        ),
    ),
    Planted(
        "assistant",
        "We settled on Renovate for dependency updates, because it groups pull requests.",
        "Renovate",
        (
            "What keeps our dependencies up to date?",
            "Which bot updates dependencies?",
        ),
    ),
    Planted(
        "user",
        "Switch the reminders to push notifications, nobody reads the mails.",
        "push notifications",
        (
            "How do reminders reach people?",
            "By what channel are reminders sent?",
        ),
        before="Reminders go out by mail for now.",
    ),
    Planted(
        "assistant",
        "Going with Tauri instead of Electron for the desktop client, its installer is a "
        "tenth of the size.",
        "Tauri",
        (
            "What is the desktop client built with?",
            "Why not Electron for the desktop app?",
        ),
    ),
    Planted(
        "user",
        "Sensor readings are kept for 18 months, the auditor asked for it.",
        "18 months",
        (
            "How long do we keep sensor readings?",
            "For how long are readings of the sensors retained?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to compute taxes in the checkout and not in the cart, because the "
        "address is only known there.",
        "in the checkout",
        (
            "Where do we compute taxes?",
            "At which point are taxes calculated?",
        ),
    ),
    Planted(
        "user",
        "Let's have Cloudflare terminate TLS, and keep the origin plain inside the network.",
        "Cloudflare",
        (
            "What terminates TLS?",
            "Who handles TLS for us?",
        ),
    ),
    Planted(
        "assistant",
        "I chose ULIDs for the shipment numbers, because they sort by time.",
        "ULID",
        (
            "What identifiers do shipments get?",
            "Which sort of id is a shipment number?",
        ),
    ),
    Planted(
        "user",
        "Photos must be resized to 1600 pixels before they are uploaded.",
        "1600 pixels",
        (
            "How large may uploaded photos be?",
            "What happens to photos before upload?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: the scheduler runs in its own process rather than inside the web "
        "server, for restarts.",
        "in its own process",
        (
            "Where does the scheduler run?",
            "Is the scheduler a part of the web server?",
        ),
    ),
)

ABSENT_SECOND: tuple[str, ...] = (
    "Which camera do interviews use?",
    "How long is the progress bar?",
    "What is the salary of a partner manager?",
    "Who approved the referral bonus?",
    "Which voice does the assistant speak with?",
    "How many scanners are in the warehouse?",
    "What insurance covers the shipping of glass?",
    "When does the handbook get printed?",
    "Which bank collects the VAT?",
    "How are minors supervised at the event?",
    "What did we decide about the rooftop garden?",
    "Which airline do we fly with?",
    "How is the sourdough proofed?",
    "What was settled for the marathon route?",
    "Which microscope did the lab buy?",
    "How many goats live on the farm?",
    "What paint did we choose for the fence?",
    "Which dentist is covered?",
    "How do beavers build the dam?",
    "What was agreed about the piano lessons?",
    "Which airport does the courier fly to?",
    "How many analysts use the exports?",
    "Who designed the chatbot's avatar?",
    "What does a household pay for the beta?",
    "Which sensor do we buy next year?",
    "How old are the photos on the landing page?",
    "What colour are push notifications?",
    "When was the vault audited?",
    "Which phone does the scheduler call?",
    "How are refunds taxed in Norway?",
    "What did we decide about the canteen menu?",
    "Which violin does the orchestra rent?",
    "How deep is the harbour?",
    "What was agreed on the tennis court?",
    "Which yeast goes into the bread?",
    "How do penguins find their partner?",
    "What telescope did the school choose?",
    "Which tyre pressure suits the tractor?",
    "How many tulips were planted?",
    "What was settled about the carnival float?",
)


THIRD: tuple[Planted, ...] = (
    Planted(
        "user",
        "Let's use Hetzner for the build runners, AWS minutes eat the budget.",
        "Hetzner",
        (
            "Where do the build runners live?",
            "Which host did we take for build runners?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to debounce the autosave by two seconds, because every key stroke hit the API.",
        "two seconds",
        (
            "How long does autosave wait?",
            "What delay did we give the autosave?",
        ),
    ),
    Planted(
        "user",
        "The invoice number must start with the country code.",
        "country code",
        (
            "How does an invoice number begin?",
            "What do invoice numbers start with?",
        ),
    ),
    Planted(
        "assistant",
        "Going with HLS for the lecture streams, since the phones of our students play "
        "nothing else.",
        "HLS",
        (
            "Which streaming protocol carries the lectures?",
            "How are lectures streamed?",
        ),
    ),
    Planted(
        "user",
        "We'll use Airtable instead of spreadsheets for the seating plan.",
        "Airtable",
        (
            "What tool holds the seating plan?",
            "How do we handle the seating plan?",
        ),
    ),
    Planted(
        "assistant",
        "I chose a trigram index for the contact lookup, because names are often misspelt.",
        "trigram index",
        (
            "How does contact lookup cope with misspelt names?",
            "What index does the contact lookup have?",
        ),
    ),
    Planted(
        "user",
        "Do not log the content of support tickets.",
        "support tickets",
        (
            "What about support tickets must not be logged?",
            "May the content of a support ticket be logged?",
        ),
    ),
    Planted(
        "assistant",
        "Decision: the weather tile asks again every 15 minutes rather than holding a socket open.",
        "every 15 minutes",
        (
            "How often does the weather tile refresh?",
            "What is the refresh interval of the weather tile?",
        ),
    ),
    Planted(
        "user",
        "Use Vitest instead of Jest for the widget library, it shares our Vite setup.",
        "Vitest",
        (
            "What are the tests of the widget library written with?",
            "Which test runner does the widget library have?",
        ),
    ),
    Planted(
        "assistant",
        "I'll go with soft deletion for orders, because accounting needs to see them.",
        "soft deletion",
        (
            "How are orders deleted?",
            "What happens when an order is deleted?",
        ),
    ),
    Planted(
        "user",
        "Switch the map of branches to vector graphics, the PNG is blurred on new screens.",
        "vector graphics",
        (
            "In which format is the map of branches?",
            "What is the map of branches drawn with?",
        ),
        before="The map of branches stays a PNG.",
    ),
    Planted(
        "assistant",
        "We settled on a monthly release train, because hotfixes kept interrupting each other.",
        "monthly release train",
        (
            "How often do we release?",
            "Which rhythm do releases follow?",
        ),
    ),
    Planted(
        "user",
        "Vouchers expire after 90 days.",
        "90 days",
        (
            "When do vouchers expire?",
            "How long is a voucher good for?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to sign the webhooks with HMAC, because partners cannot manage certificates.",
        "HMAC",
        (
            "How do partners verify our webhooks?",
            "What signs the webhooks?",
        ),
    ),
    Planted(
        "user",
        "Keep the admin area on a separate subdomain.",
        "separate subdomain",
        (
            "Where is the admin area served from?",
            "On which domain does the admin area live?",
        ),
    ),
)

ABSENT_THIRD: tuple[str, ...] = (
    "Which bank pays out the vouchers?",
    "How many translators work for us?",
    "Who takes the lectures?",
    "What does a build runner cost?",
    "How many orders were deleted last week?",
    "Which calendar does the office hang up?",
    "When do support tickets get closed?",
    "What is the invoice number of the first order?",
    "Which browser shows the map of branches?",
    "How big is the widget library?",
    "What did we decide about the choir trip?",
    "Which oboe reed is used?",
    "How is the wool dyed?",
    "What was agreed on for the school bus?",
    "Which tent did the scouts pick?",
    "How tall is the lighthouse?",
    "What bait do the anglers use?",
    "Which glaze does the pottery get?",
    "How many owls nest in the barn?",
    "What was settled about the hay?",
)

HELD_OUT: tuple[Planted, ...] = (
    Planted(
        "user",
        "Let's use Terraform for the infrastructure, clicking around in the console got us lost.",
        "Terraform",
        (
            "How is our infrastructure described?",
            "Which tool provisions the infrastructure?",
        ),
    ),
    Planted(
        "assistant",
        "I decided to cap uploads at 25 MB, because the scanner chokes on larger ones.",
        "25 MB",
        (
            "How large may an upload be?",
            "What is the size limit for uploaded files?",
        ),
    ),
    Planted(
        "user",
        "All timestamps must be stored in UTC.",
        "UTC",
        (
            "In which timezone do we save timestamps?",
            "What zone are stored times in?",
        ),
    ),
    Planted(
        "assistant",
        "Going with SendGrid for transactional mail, since SES is not approved by legal.",
        "SendGrid",
        (
            "Which provider delivers our transactional email?",
            "Who sends the transactional mails for us?",
        ),
    ),
    Planted(
        "user",
        "Switch the nightly import to Airflow, cron jobs fail silently.",
        "Airflow",
        (
            "What schedules the nightly import?",
            "Which scheduler does the import run on?",
        ),
        "Let's keep the nightly import in cron.",
    ),
    Planted(
        "assistant",
        "I'll go with Redux Toolkit rather than MobX for the editor state, the team knows it.",
        "Redux Toolkit",
        (
            "How do we manage state in the editor?",
            "Which state library does the editor use?",
        ),
    ),
    Planted(
        "user",
        "Never send personal data to the analytics vendor.",
        "personal data",
        (
            "What must not go to the analytics vendor?",
            "May analytics receive personal information?",
        ),
    ),
    Planted(
        "assistant",
        "We settled on semantic versioning for the SDK, because customers pin major versions.",
        "semantic versioning",
        (
            "How do we number SDK releases?",
            "Which versioning scheme does the SDK follow?",
        ),
    ),
    Planted(
        "user",
        "Go with Terraform Cloud's free tier for now and keep the remote state encrypted.",
        "encrypted",
        (
            "Is the remote state encrypted?",
            "How is remote state protected?",
        ),
    ),
    Planted(
        "assistant",
        "I chose virtual scrolling for the transaction table, since ten thousand rows froze the "
        "tab.",
        "virtual scrolling",
        (
            "How does the transaction table cope with many rows?",
            "What keeps the transaction table fast?",
        ),
    ),
    Planted(
        "user",
        "The trial lasts 14 days and no credit card is required.",
        "14 days",
        (
            "How long is the trial period?",
            "Do people need a credit card for the trial?",
        ),
    ),
    Planted(
        "assistant",
        "Decided to run the linter in a pre-commit hook instead of in CI, so feedback comes early.",
        "pre-commit hook",
        (
            "Where does the linter run?",
            "When is linting done?",
        ),
    ),
    Planted(
        "user",
        "We'll use Crowdin for translations rather than a shared sheet.",
        "Crowdin",
        (
            "Which platform do the translators work with?",
            "How are translations managed?",
        ),
        "Let's manage translations in a shared sheet.",
    ),
    Planted(
        "assistant",
        "I'll stick with server side rendering for the marketing pages, because search engines "
        "index them better.",
        "server side rendering",
        (
            "How are the marketing pages rendered?",
            "Why do marketing pages render on the server?",
        ),
    ),
    Planted(
        "user",
        "Refunds over 200 euros need a second approval.",
        "second approval",
        (
            "When does a refund need two approvals?",
            "What do large refunds require?",
        ),
    ),
)

ABSENT_HELD_OUT: tuple[str, ...] = (
    "Which cloud region hosts the infrastructure?",
    "How many uploads fail each day?",
    "Who wrote the import script?",
    "Which font do the marketing pages use?",
    "What does Crowdin charge per seat?",
    "How many refunds were approved in May?",
    "Which keyboard shortcuts does the editor have?",
    "What is the API key of the analytics vendor?",
    "How do we test the SDK on Windows?",
    "When does the trial of the design tool end?",
    "Who approves new translators?",
    "Which colour has the transaction table?",
    "What did we decide about the company retreat?",
    "How is the bread sliced?",
    "Which violin strings were bought?",
    "What was agreed about the garden fence?",
    "How deep is the well?",
    "Which trail does the hiking group take?",
    "How often is the aquarium cleaned?",
    "What was settled for the chess tournament?",
)
