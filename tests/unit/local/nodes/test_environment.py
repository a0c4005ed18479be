"""Variables in the texts of a job."""

from local.nodes.environment import expand


def test_known_variables_are_replaced_and_others_stay() -> None:
    assert expand("$A/${B}/$C/$A_B $", {"A": "1", "B": "2"}) == "1/2/$C/$A_B $"
