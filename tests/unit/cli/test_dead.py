"""What is dead, as a person sees it."""

from cli.dead import rows


def test_messages_and_events_stand_in_one_table_with_their_reasons() -> None:
    since = "2026-01-01T12:00:00+00:00"
    lines = rows(
        [
            {"id": "d_a", "kind": "message", "queue": "jobs", "since": since, "reason": "tried 40 times"},
            {
                "id": "evt_b",
                "kind": "event",
                "job": "j_1",
                "since": since,
                "reason": "https://h.example.com: 410",
            },
        ]
    )
    assert [line.split("  ") for line in lines[1:]] == [
        ["d_a", "", "jobs", "2026-01-01 12:00:00", "tried 40 times"],
        ["evt_b", "j_1", " 2026-01-01 12:00:00", "https://h.example.com: 410"],
    ]


def test_nothing_dead_is_said_in_words() -> None:
    assert rows([]) == ["nothing is dead"]
