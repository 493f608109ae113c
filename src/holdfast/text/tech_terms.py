"""Map generic terms that users search for to product names and technical words (cache → Redis).

The table of similar words covers English; this one covers names that are in no dictionary and
words with a special meaning among developers. A name that is also a common word, such as Go, is
left out.
"""

from collections.abc import Iterator, Mapping

_KINDS = """
database: postgres postgresql mysql mariadb sqlite mongodb dynamodb cockroachdb cassandra oracle
 firestore supabase neo4j clickhouse duckdb bigquery snowflake timescaledb
store: postgres postgresql mysql sqlite redis s3 dynamodb mongodb
cache: redis memcached varnish valkey
queue: kafka rabbitmq sqs nats celery sidekiq pulsar redis bullmq zeromq
broker: kafka rabbitmq nats pulsar mqtt activemq
bus: kafka rabbitmq nats eventbridge
auth: jwt oauth oauth2 oidc saml sso passkey passkeys webauthn session sessions cookie cookies
 token tokens ldap kerberos password passwords auth0 keycloak cognito
authentication: jwt oauth oauth2 oidc saml sso passkey passkeys webauthn session sessions cookie
 cookies token tokens ldap kerberos password passwords auth0 keycloak cognito auth login
authenticate: jwt oauth oauth2 oidc saml sso passkey webauthn session sessions cookie token tokens
login: jwt oauth oidc saml sso passkey webauthn session sessions auth authentication
signature: rs256 hs256 es256 hmac ed25519 rsa ecdsa sign signed signing
algorithm: rs256 hs256 es256 aes rsa ed25519 sha256 argon2 argon2id bcrypt scrypt md5 hmac
hash: sha256 sha1 md5 argon2 argon2id bcrypt scrypt blake2 blake3 xxhash
encryption: aes rsa tls ssl gpg chacha20 kms aes-gcm
compression: gzip zstd brotli lz4 snappy zip xz
search: elasticsearch opensearch meilisearch solr typesense algolia lucene fts5
framework: react vue svelte angular solid nextjs nuxt django flask fastapi express nestjs rails
 laravel spring gin axum actix remix astro htmx qt tauri electron
frontend: react vue svelte angular solid nextjs nuxt astro htmx tailwind vite webpack
ui: react vue svelte angular solid htmx qt tauri electron tailwind
backend: django flask fastapi express nestjs rails spring gin axum actix
language: python golang rust typescript javascript java kotlin swift ruby php c# elixir zig
protocol: grpc rest graphql http https websocket websockets mqtt amqp soap tcp udp sse thrift
api: grpc rest graphql openapi soap websocket
format: json yaml toml xml csv parquet avro protobuf msgpack markdown html pdf cbor
encoding: json msgpack protobuf avro cbor base64 utf-8 utf8 gzip
serialization: json msgpack protobuf avro cbor pickle yaml thrift
serialize: json msgpack protobuf avro cbor pickle yaml
serialized: json msgpack protobuf avro cbor pickle yaml
pdf: weasyprint wkhtmltopdf reportlab latex puppeteer
test: pytest jest vitest mocha unittest junit playwright cypress selenium testify rspec hypothesis
testing: pytest jest vitest mocha unittest junit playwright cypress selenium testify rspec
browser: playwright cypress selenium puppeteer chrome safari firefox chromium webkit
linter: ruff flake8 eslint pylint biome clippy golangci-lint
formatter: black ruff prettier gofmt rustfmt biome
package: npm pnpm yarn bun pip poetry uv cargo conda maven gradle homebrew
dependencies: npm pnpm yarn bun pip poetry uv cargo conda maven gradle
build: webpack vite esbuild rollup bazel make cmake gradle maven turbopack
ci: github-actions jenkins circleci gitlab travis buildkite
deploy: kubernetes docker helm terraform ansible heroku vercel netlify fly systemd nomad ecs
 lambda k8s argocd
deployment: kubernetes docker helm terraform ansible heroku vercel netlify fly systemd nomad ecs
 lambda k8s argocd
host: aws gcp azure heroku vercel netlify fly render hetzner digitalocean cloudflare
hosting: aws gcp azure heroku vercel netlify fly render hetzner digitalocean cloudflare
cloud: aws gcp azure s3 lambda ec2 cloudflare
storage: s3 gcs minio disk filesystem bucket blob indexeddb localstorage
container: docker podman kubernetes k8s
monitoring: prometheus grafana datadog sentry newrelic opentelemetry
observability: prometheus grafana datadog sentry opentelemetry jaeger tracing
logging: structlog loguru logback syslog winston pino zap
tracing: opentelemetry jaeger zipkin datadog
orm: sqlalchemy prisma drizzle typeorm hibernate activerecord gorm peewee
validation: pydantic zod joi msgspec marshmallow yup valibot ajv
validate: pydantic zod joi msgspec marshmallow yup valibot ajv
identifier: uuid ulid guid nanoid snowflake id ids number
id: uuid ulid guid nanoid snowflake identifier number
derivation: argon2 argon2id pbkdf2 scrypt hkdf bcrypt
derive: argon2 argon2id pbkdf2 scrypt hkdf bcrypt
map: mapbox maplibre leaflet openstreetmap tile tiles
desktop: electron tauri qt wails
mobile: flutter android ios swift kotlin expo
update: renovate dependabot upgrade bump
channel: mail email sms push notification notifications slack webhook
bot: chatbot robot assistant
analytics: duckdb bigquery snowflake clickhouse posthog plausible matomo
tls: cloudflare letsencrypt certbot acme nginx caddy
certificate: letsencrypt certbot acme
scheduler: cron airflow celery temporal systemd
workflow: airflow temporal dagster prefect
reply: answer respond response
calculate: compute
payment: stripe paypal adyen braintree square
payments: stripe paypal adyen braintree square
email: ses sendgrid mailgun postmark smtp
llm: gpt claude gemini llama mistral qwen gpt-4o opus sonnet haiku
vcs: git mercurial trunk branch branches
branching: trunk branch branches gitflow
check: test verify assert lint validate
timezone: utc gmt cet est pst
zone: utc gmt cet est pst timezone
flag: launchdarkly unleash flagsmith toggle
toggle: launchdarkly unleash flagsmith flag switch
switch: toggle flag flip
limit: throttle throttling cap quota bucket maximum max ceiling
throttle: limit rate quota bucket
rate: throttle throttling bucket quota
cap: limit maximum max
maximum: max cap limit most
minimum: min least
size: pixel byte kb mb gb row character line width height length
dimension: pixel width height size
indent: tab space whitespace
whitespace: tab space indent
retry: backoff attempt
fail: retry backoff error timeout fallback
paginate: cursor offset page limit
page: paginate pagination cursor offset
lock: mutex locking optimistic pessimistic transaction
concurrency: lock locking mutex thread async transaction optimistic
concurrent: lock locking mutex thread async transaction optimistic
parallel: thread async worker concurrency
retention: keep kept delete day month year expire purge ttl
retain: keep kept delete day month year expire
expiry: ttl expire hour minute day lifetime
expire: ttl expiry lifetime
lifetime: ttl expiry hour minute day
change: modify edit touch alter rewrite rename refactor
modify: change edit touch alter rewrite
edit: change modify touch
touch: change modify edit
forbid: never not don't must avoid
delete: drop remove purge erase
remove: drop delete purge
frequency: hourly daily weekly monthly nightly often interval
often: hourly daily weekly monthly nightly interval times retries
interval: hourly daily weekly monthly second minute
schedule: cron hourly daily weekly nightly
connect: offline online grpc rest http websocket
connection: offline online disconnect
split: partition shard chunk segment
shard: partition split
partition: shard split
release: deploy rollout canary blue green rolling ship version
rollout: release deploy canary blue green rolling
ship: release deploy publish
publish: release send emit produce
produce: render generate emit write publish
generate: render produce
render: generate draw template html pdf
document: pdf html markdown invoice report
money: cent cents decimal currency amount price
monetary: money cent cents decimal currency amount price
amount: cent cents decimal money price
number: integer float decimal cent
error: exception problem failure code status
response: return reply json status
return: response reply
shape: json schema field struct format
layout: folder directory structure grid
mail: email smtp newsletter
email: mail
promotional: marketing advertising
signup: registration register
registration: signup register
permission: role acl rbac scope allowed
secret: vault env key credential
config: yaml toml json env settings dotenv
configuration: yaml toml json env settings dotenv
settings: config configuration preferences
naming: call name rename
name: call rename
compatibility: compatible backwards version
compatible: compatibility backwards
shrink: compress reduce
compress: gzip zstd brotli lz4 snappy zip xz shrink
communicate: grpc rest http kafka queue websocket call
talk: grpc rest http kafka queue websocket call
transport: grpc http kafka websocket tcp
interface: api endpoint cli ui
panel: dashboard page screen
dashboard: panel page screen
pay: payment checkout stripe paypal billing
customer: client buyer
checkout: payment cart stripe
account: customer
record: log row entry
audit: log
"""


def _table() -> Mapping[str, tuple[str, ...]]:
    rows = (line.partition(":") for line in _KINDS.replace("\n ", " ").strip().split("\n"))
    return {name.strip(): tuple(names.split()) for name, _, names in rows}


NAMES_BY_KIND = _table()
"""Names by the generic term for them."""
WORD_ENDINGS = (
    *(("ies", "y"), ("s", ""), ("es", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),
    *(("ation", "e"), ("ation", ""), ("ization", "ize"), ("ied", "y"), ("er", ""), ("er", "e")),
)
"""Endings of words, and their replacements in the table."""
NAME_SIMILARITY = 0.8
"""The similarity of a name to the generic term, from 0 to 1."""


def names_of_kind(word: str) -> tuple[str, ...]:
    """Return the names for a generic term in any of its forms; empty if it has none."""
    return next((NAMES_BY_KIND[form] for form in base_forms(word) if form in NAMES_BY_KIND), ())


def base_forms(word: str) -> Iterator[str]:
    """Yield the possible base forms of a word: itself, then with its ending replaced."""
    yield word
    for ending, instead in WORD_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2:
            bare = word.removesuffix(ending)
            yield bare + instead
            if bare[-1] == bare[-2]:
                yield bare[:-1]
