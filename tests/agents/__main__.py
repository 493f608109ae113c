"""`python -m tests.agents`: installs the clients, and says what came of it."""

from tests.agents.clients import CLIENTS, install


def main() -> None:
    """Fetch each client; one that cannot be had is told of, and its scenarios are skipped."""
    for client in CLIENTS:
        why = install(client)
        print(f"{client.title}: {'SKIPPED, ' + why if why else 'here'}", flush=True)


if __name__ == "__main__":
    main()
