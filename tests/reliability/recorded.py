"""The program whose system calls are recorded: it appends, and says so after each append."""

import os
import sys

from holdfast import Session
from tests.reliability.ledgers import SESSION, ledger, message, store_at


def main() -> None:
    root, many, engine = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    store = store_at(ledger(root), engine=engine or None)
    session = Session(SESSION, store)
    for number in range(many):
        session.append(message(number))
        os.write(1, b"acked %d\n" % number)
    # A power cut closes nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
