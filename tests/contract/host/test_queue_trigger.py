"""Queue triggers: values, outputs, tries, poison, crashes and hangs; the same through both runtimes."""

import json

import pytest

from tests.contract.host.world import Host, eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_message_reaches_the_function_with_its_fields_and_the_answer_is_queued(host: Host) -> None:
    body = json.dumps({"do": "report", "n": 1})

    await host.storage.send("work", body)

    [answer] = await host.storage.take("done", lambda t: "report" in t)
    observation = json.loads(answer)
    assert observation["body"] == body
    assert observation["attempt"] == 1
    assert observation["inserted"] is True
    assert len(observation["id"]) == len(observation["invocation"]) == 36


async def test_members_of_a_text_replace_the_fields_of_the_message(host: Host) -> None:
    await host.storage.send("work", json.dumps({"do": "replace", "id": "mine", "dequeuecount": "8"}))

    [answer] = await host.storage.take("done", lambda t: "replace" in t)
    observation = json.loads(answer)
    assert (observation["id"], observation["attempt"]) == ("mine", 8)


async def test_a_message_with_a_member_that_cannot_be_read_as_a_field_never_runs(host: Host) -> None:
    body = json.dumps({"do": "never", "ExpirationTime": "soon"})
    await host.storage.send("work", body)

    assert await host.storage.take("work-poison", lambda t: "soon" in t) == [body]


async def test_members_of_a_body_that_a_function_takes_as_bytes_replace_no_field(host: Host) -> None:
    body = json.dumps({"id": "mine", "ExpirationTime": "later"})
    await host.storage.send("bytes", body)

    [answer] = await host.storage.take("done", lambda t: "later" in t)
    observation = json.loads(answer)
    assert (observation["body"], observation["attempt"]) == (body, 1)
    assert observation["id"] != "mine"


async def test_a_function_on_a_thread_takes_text_and_sets_an_output(host: Host) -> None:
    await host.storage.send("plain", "grüße")

    assert await host.storage.take("done", lambda t: t.startswith("plain:")) == ["plain:grüße"]


async def test_the_lines_of_an_app_name_their_function_and_invocation(host: Host) -> None:
    await host.storage.send("plain", "traced")
    await host.storage.take("done", lambda t: t == "plain:traced")

    await host.process.line(r"\[plain [0-9a-f]{8}\] INFO root: plain got traced")


async def test_a_list_becomes_several_messages_and_the_queue_name_comes_from_a_setting(host: Host) -> None:
    await host.storage.send("fan", "fan-a,fan-b")

    answers = await host.storage.take("done", lambda t: t.startswith("fan-"), count=2)

    assert sorted(answers) == ["fan-a", "fan-b"]


async def test_a_failing_message_moves_to_poison_after_the_last_attempt(host: Host) -> None:
    await host.storage.send("work", '{"do":"fail","n":2}')

    moved = await host.storage.take("work-poison", lambda t: '"fail"' in t)

    assert moved == ['{"do":"fail","n":2}']
    await host.process.line(r"moves to the queue work-poison: it failed 2 times")


async def test_a_function_that_ends_its_process_is_poisoned_and_the_worker_comes_back(host: Host) -> None:
    await host.storage.send("work", '{"do":"crash"}')

    assert await host.storage.take("work-poison", lambda t: "crash" in t) == ['{"do":"crash"}']
    await host.storage.send("work", '{"do":"after crash"}')

    assert await host.storage.take("done", lambda t: "after crash" in t)


async def test_a_function_that_hangs_is_killed_after_the_timeout_and_poisoned(host: Host) -> None:
    await host.storage.send("work", '{"do":"hang"}')

    assert await host.storage.take("work-poison", lambda t: "hang" in t) == ['{"do":"hang"}']
    await host.process.line(r"timed out after functionTimeout, 1 s")
    await host.storage.send("work", '{"do":"after hang"}')
    assert await host.storage.take("done", lambda t: "after hang" in t)


async def test_a_disabled_function_leaves_its_messages_alone(host: Host) -> None:
    await host.storage.send("never", "stays")
    await host.storage.send("work", '{"do":"meanwhile"}')
    await host.storage.take("done", lambda t: "meanwhile" in t)

    assert await host.storage.peek("never") == ["stays"]


async def test_a_message_without_any_mistake_is_gone_afterwards(host: Host) -> None:
    await host.storage.send("work", '{"do":"go"}')
    await host.storage.take("done", lambda t: '\\"go\\"' in t)

    async def empty() -> bool:
        properties = await host.storage.queues.get_queue_client("work").get_queue_properties()
        return properties.approximate_message_count == 0

    await eventually(empty, lambda: "the queue work to be empty")
