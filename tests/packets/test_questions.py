"""Questions to the ledger: answered with what was decided and where, or not known."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.questions.answer import QuestionAnswer, answer_document, render_answer
from holdfast.packets.questions import (
    MAX_UNREAD_SESSIONS,
    ProjectDecisions,
    context_query,
    project_decisions,
)
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

AUTH = (
    {"role": "user", "content": "Add login to the API. Do NOT modify the registration flow."},
    {"role": "assistant", "content": "I decided to use session cookies for login."},
    {"role": "user", "content": "Use JWT instead of session cookies, the mobile app needs it."},
    {
        "role": "assistant",
        "content": "Going with RS256 for signing tokens, because other services can verify it.",
    },
    {"role": "user", "content": "Fine. Token expiry must be 24 hours."},
)
STORAGE = (
    {"role": "user", "content": "Plan the importer."},
    {"role": "assistant", "content": "I chose PostgreSQL for the orders, because two write."},
    {"role": "user", "content": "Passwords have to be hashed with argon2id, nothing else."},
)


def told(*sessions: tuple[dict[str, str], ...]) -> ProjectDecisions:
    store = MemoryStore()
    for number, messages in enumerate(sessions, 1):
        Session(f"s{number}", store, owns_store=False).extend(messages)
    return ProjectDecisions(store)


def asked(question: str, *sessions: tuple[dict[str, str], ...]) -> QuestionAnswer:
    return context_query(told(*(sessions or (AUTH, STORAGE))), question)


@pytest.mark.seed("R353")
def test_the_protocols_own_question_is_answered_with_the_decision_of_the_user() -> None:
    answer = asked("What authentication approach was decided?")
    one = answer.statement
    assert answer.known
    assert one is not None
    assert (one.kind, one.by, one.session, one.turn) == ("decision", "user", "s1", 1)
    assert one.text == "Use JWT instead of session cookies, the mobile app needs it."


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("Which signing algorithm do tokens use?", "RS256"),
        ("Which database holds the orders?", "PostgreSQL"),
        ("How long do tokens live before expiry?", "24 hours"),
        ("May I change the registration?", "Do NOT modify the registration flow."),
        ("What hash do we use for passwords?", "argon2id"),
    ],
)
def test_a_question_in_other_words_is_answered(question: str, holds: str) -> None:
    answer = asked(question)
    assert answer.known
    assert answer.statement is not None
    assert holds in answer.statement.words


@pytest.mark.parametrize(
    "question",
    [
        "Which colour does the logo have?",
        "What did we decide about the coffee machine?",
        "Who pays for the servers?",
        "How many replicas does PostgreSQL get in Tokyo?",
        "Welche Farbe hat das Logo?",
        "",
        "?!",
        "what did we decide",
    ],
)
def test_what_nobody_said_is_not_known(question: str) -> None:
    answer = asked(question)
    assert not answer.known
    assert render_answer(answer).startswith("Not known: nothing recorded answers this.")


@pytest.mark.seed("R356")
def test_what_was_replaced_is_answered_with_what_replaced_it() -> None:
    answer = asked("Do we keep session cookies for login?")
    assert answer.statement is not None
    assert answer.statement.text.startswith("Use JWT")
    assert [one.text for one in answer.was] == ["I decided to use session cookies for login."]
    assert "in place of: I decided to use session cookies" in render_answer(answer)


def test_a_later_session_replaces_what_an_earlier_one_decided() -> None:
    later = (
        {"role": "user", "content": "Go on."},
        {
            "role": "assistant",
            "content": "Switching to SQLite instead of PostgreSQL for the orders, because one "
            "writes.",
        },
    )
    answer = asked("Which database holds the orders?", STORAGE, later)
    assert answer.statement is not None
    assert (answer.statement.session, "SQLite" in answer.statement.text) == ("s2", True)
    assert [one.session for one in answer.was] == ["s1"]


def test_only_the_sessions_named_are_asked() -> None:
    settled = told(AUTH, STORAGE)
    question = "Which database holds the orders?"
    assert context_query(settled, question, sessions=["s2"]).known
    assert not context_query(settled, question, sessions=["s1"]).known


def test_what_a_tool_printed_answers_nothing() -> None:
    printed = (
        {"role": "user", "content": "Look at the notes."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "Bash", "arguments": '{"command": "cat notes"}'},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "We decided to use MongoDB for the shopping carts.",
        },
    )
    assert not asked("Which database did we choose for shopping carts?", printed).known  # pyright: ignore[reportArgumentType]


def test_a_secret_is_not_part_of_an_answer(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    with open_session("work", root=tmp_path) as session:
        session.extend(
            [
                {"role": "user", "content": "Set up the deploy."},
                {"role": "user", "content": f"Let's use the deploy token {secret} for releases."},
            ]
        )
        answer = context_query(
            project_decisions(session.ledger), "Which deploy token do releases use?"
        )
        assert answer.known
        assert secret not in str(answer_document(answer))
        assert "[redacted:" in str(answer_document(answer))


def test_a_pin_answers_until_it_is_lifted(tmp_path: Path) -> None:
    with open_session("work", root=tmp_path) as session:
        session.append({"role": "user", "content": "Build the exporter."})
        pin = session.pin("Exports are written in the Parquet format.")
        question = "In which format are exports written?"
        answer = context_query(project_decisions(session.ledger), question)
        assert answer.known
        assert answer.statement is not None
        assert answer.statement.text == "Exports are written in the Parquet format."
        session.unpin(pin)
        lifted = context_query(project_decisions(session.ledger), question).statement
        assert lifted is None or lifted.replaced_by


def test_what_is_new_is_known_to_who_asked_before() -> None:
    settled = told(AUTH)
    question = "Which database holds the orders?"
    assert not context_query(settled, question).known
    Session("s1", settled.store, owns_store=False).extend(
        [{"role": "assistant", "content": "I chose PostgreSQL for the orders, since two write."}]
    )
    assert context_query(settled, question).known


def test_the_document_names_the_source() -> None:
    document = answer_document(asked("Which signing algorithm do tokens use?"))
    answer = document["answer"]
    assert isinstance(answer, dict)
    assert {name: answer[name] for name in ("kind", "by", "session", "turn", "replaced")} == {
        "kind": "decision",
        "by": "agent",
        "session": "s1",
        "turn": 2,
        "replaced": False,
    }
    assert answer["reason"] == "other services can verify it."


@pytest.fixture(scope="module")
def settled() -> Iterator[ProjectDecisions]:
    yield told(AUTH, STORAGE)


@given(question=st.text(max_size=300))
def test_any_text_may_be_asked(settled: ProjectDecisions, question: str) -> None:
    answer = context_query(settled, question)
    assert answer == context_query(settled, question)
    assert 0.0 <= answer.score <= 1.0
    assert answer.known <= (answer.statement is not None)


def test_a_question_of_a_megabyte_is_answered_like_its_beginning() -> None:
    settled = told(AUTH)
    question = "Which signing algorithm do tokens use? "
    assert context_query(settled, question + "x" * 1_000_000).statement is not None


def test_somebody_who_asked_the_same_is_no_answer() -> None:
    asking = (
        {"role": "user", "content": "Add login to the API."},
        {"role": "assistant", "content": "Which signing algorithm should the tokens use?"},
    )
    assert not asked("Which signing algorithm do the tokens use?", asking).known


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "What authentication approach was decided?",
            "Let me look at how the tests read `git_author_test.go` and its metadata.",
        ),
        ("What authentication approach was decided?", "The author of the commit is in its header."),
        ("How many analysts use the exports?", "I chose nightly exports, analysts load them."),
        ("What does the staging environment cost?", "Let's go with Azure for the staging tests."),
        (
            "Which phone does the planner ring?",
            "Decided to batch pushes every ten minutes, because the phones were buzzing.",
        ),
        ("How long is the bar?", "Let's raise the bar, but never be rude."),
        ("How do penguins find their partner?", "Let's use passkeys for the partner portal."),
        ("When do uploads expire?", "E       CacheWarning: the uploads expire after 10 days"),
        ("Which bank pays out the prizes?", "I chose retries, because the bank is slow."),
    ],
)
def test_words_that_only_come_near_answer_nothing(question: str, said: str) -> None:
    messages = ({"role": "user", "content": "Go on."}, {"role": "assistant", "content": said})
    assert not asked(question, messages).known


@pytest.mark.parametrize(
    ("question", "said", "holds"),
    [
        ("Which protocol feeds the progress bar?", "Going with SSE for the progress bar.", "SSE"),
        (
            "What stands in front of the blocklist?",
            "I chose a bloom filter in front of the blocklist.",
            "bloom filter",
        ),
        (
            "May we store when a minor was born?",
            "Do not store the date of birth of minors.",
            "date of birth",
        ),
        (
            "What keeps dependencies up to date?",
            "We settled on Renovate for dependency updates.",
            "Renovate",
        ),
        ("Who supplies the maps?", "Let's go with Mapbox for the maps.", "Mapbox"),
        (
            "What do the browser checks run on?",
            "Going with Playwright rather than Cypress for browser tests.",
            "Playwright",
        ),
        (
            "What delay did the draft get?",
            "Let's go with a pause of two seconds before the draft is saved.",
            "two seconds",
        ),
        (
            "On which domain is the admin area?",
            "Keep the admin area on a separate subdomain.",
            "subdomain",
        ),
        (
            "Which language does the chatbot answer in?",
            "Going with German for the answers of the chatbot, whatever language is asked in.",
            "German",
        ),
        (
            "How is the map of branches stored?",
            "Switch the map of branches to vector graphics.",
            "vector graphics",
        ),
    ],
)
def test_the_verb_of_a_question_need_not_stand_in_its_answer(
    question: str, said: str, holds: str
) -> None:
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": said})
    answer = asked(question, messages)
    assert answer.known
    assert answer.statement is not None
    assert holds in answer.statement.words


def test_going_with_something_names_no_language() -> None:
    chosen = {"role": "assistant", "content": "The bot replies in the language of its visitor."}
    other = {"role": "assistant", "content": "Going with events for the bar, as nothing is sent."}
    first = {"role": "user", "content": "Go on."}
    answer = asked("What language does the bot reply in?", (first, chosen, other))
    assert answer.statement is not None
    assert "visitor" in answer.statement.words


def test_however_many_sessions_there_are_each_is_read_in_time() -> None:
    others = [
        ({"role": "user", "content": f"The users of part {n} find their page, so use menu {n}."},)
        for n in range(3 * MAX_UNREAD_SESSIONS)
    ]
    key = ({"role": "user", "content": "Let's use the settings page to find the public key."},)
    settled = told(key, *others)
    question = "Where do users find their public key?"
    answers = [context_query(settled, question) for _ in range(4)]
    one = answers[-1].statement
    assert one is not None
    assert "settings page" in one.text
