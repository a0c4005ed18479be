"""The regions of Azure's public cloud, as data. A location is one of them, by either of its names."""

from local.batchai.state.errors import ArmError

_NAMES = """
australiacentral australiacentral2 australiaeast australiasoutheast austriaeast belgiumcentral
brazilsouth brazilsoutheast canadacentral canadaeast centralindia centralus chilecentral eastasia
eastus eastus2 francecentral francesouth germanynorth germanywestcentral indonesiacentral
israelcentral italynorth japaneast japanwest jioindiacentral jioindiawest koreacentral koreasouth
malaysiawest mexicocentral newzealandnorth northcentralus northeurope norwayeast norwaywest
polandcentral qatarcentral southafricanorth southafricawest southcentralus southeastasia southindia
spaincentral swedencentral switzerlandnorth switzerlandwest uaecentral uaenorth uksouth ukwest
westcentralus westeurope westindia westus westus2 westus3
"""
_REGIONS = frozenset(_NAMES.split())


def region(location: str) -> str:
    """A location as it is compared: "East US" is eastus."""
    return location.replace(" ", "").lower()


def check_region(location: str, own: str, target: str) -> None:
    """Raise ArmError unless there is such a region; `own` is the emulator's own."""
    if region(location) not in _REGIONS | {region(own)}:
        raise ArmError(
            400,
            "LocationNotAvailableForResourceType",
            f"The provided location {location!r} is not a region of Azure; write one such as {own}.",
            target,
        )
