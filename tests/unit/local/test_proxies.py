"""The parts of a stack reach each other without the proxy that the environment names."""

from local.border import reach_this_machine


def test_no_proxy_leads_to_this_machine_and_other_hosts_keep_theirs() -> None:
    environment = {"http_proxy": "http://proxy:3128", "no_proxy": "inside.example,localhost", "NO_PROXY": "*"}

    reach_this_machine(environment)
    reach_this_machine(environment)

    assert environment["no_proxy"] == "inside.example,localhost,127.0.0.1,::1"
    assert environment["NO_PROXY"] == "*"
    assert environment["http_proxy"] == "http://proxy:3128"
