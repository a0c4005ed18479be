"""What GPU nodes cost an hour, as far as it could be traced to a dated source: data for `prices`.

Retail prices, Linux, USD. Those of 2024 are in a commit of a public catalog; the day is that of its last pull
request that fetched prices, and a review of 2024-08-27 quotes rows with the same values. Sizes that Azure has
retired are kept as the prices of that time. Batch's low-priority nodes are Spot VMs since 2026, so they have
Spot prices. The source lists the full price as the Spot price of H100s, because it knew none: it is left out.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """Rows of one source: each line is a size, then a region, its dedicated and its Spot price, and so on."""

    date: str
    source: str
    lines: str


TABLE: tuple[Listed, ...] = (
    Listed(
        "2024-08-18",
        "Azure Retail Prices API, as fetched for github.com/skypilot-org/skypilot-catalog (pull request 75; "
        "catalogs/v6/azure/vms.csv at 098741e)",
        """
Standard_NC6 southcentralus 1.08 0.1188 westus2 0.9 0.099
Standard_NC12 southcentralus 2.16 0.2376 westus2 1.8 0.198
Standard_NC24 southcentralus 4.32 0.4752 westus2 3.6 0.396
Standard_NC24r southcentralus 4.752 0.52272 westus2 3.96 0.4356
Standard_NC6s_v3 centralus 3.458 0.394212 eastus 3.06 0.3978 eastus2 3.06 0.404838
Standard_NC6s_v3 southcentralus 3.366 0.388773 westus 3.978 0.459061 westus2 3.06 0.35343
Standard_NC6s_v3 westus3 3.06 0.3366
Standard_NC12s_v3 centralus 6.916 0.788424 eastus 6.12 0.7956 eastus2 6.12 0.809676
Standard_NC12s_v3 southcentralus 6.732 0.777546 westus 7.956 0.918122 westus2 6.12 0.70686
Standard_NC12s_v3 westus3 6.12 0.6732
Standard_NC24s_v3 centralus 13.831 1.576734 eastus 12.24 1.5912 eastus2 12.24 1.619352
Standard_NC24s_v3 southcentralus 13.464 1.555092 westus 15.912 1.836245 westus2 12.24 1.41372
Standard_NC24s_v3 westus3 12.24 1.3464
Standard_NC24rs_v3 centralus 15.214 1.734396 eastus 13.46 1.7498 eastus2 13.464 1.781287
Standard_NC24rs_v3 southcentralus 14.8104 1.710601 westus 17.503 2.019846 westus2 13.46 1.55463
Standard_NC24rs_v3 westus3 13.46 1.4806
Standard_NC4as_T4_v3 centralus 0.594 0.06534 eastus 0.526 0.062699 eastus2 0.526 0.05786
Standard_NC4as_T4_v3 northcentralus 0.526 0.05786 southcentralus 0.631 0.06941 westus 0.631 0.06941
Standard_NC4as_T4_v3 westus2 0.526 0.061595 westus3 0.526 0.05786
Standard_NC8as_T4_v3 centralus 0.849 0.09339 eastus 0.752 0.089638 eastus2 0.752 0.08272
Standard_NC8as_T4_v3 northcentralus 0.752 0.08272 southcentralus 0.902 0.09922 westus 0.902 0.09922
Standard_NC8as_T4_v3 westus2 0.752 0.088059 westus3 0.752 0.08272
Standard_NC16as_T4_v3 centralus 1.36 0.1496 eastus 1.204 0.143517 eastus2 1.204 0.13244
Standard_NC16as_T4_v3 northcentralus 1.204 0.13244 southcentralus 1.445 0.15895 westus 1.445 0.15895
Standard_NC16as_T4_v3 westus2 1.204 0.140988 westus3 1.204 0.13244
Standard_NC64as_T4_v3 centralus 4.907 0.53977 eastus 4.352 0.518758 eastus2 4.352 0.47872
Standard_NC64as_T4_v3 northcentralus 4.352 0.47872 southcentralus 5.222 0.57442 westus 5.222 0.57442
Standard_NC64as_T4_v3 westus2 4.352 0.509619 westus3 4.352 0.47872
Standard_NC24ads_A100_v4 centralus 4.15 0.4565 eastus 3.673 0.444433 eastus2 3.673 0.47749
Standard_NC24ads_A100_v4 southcentralus 4.408 0.57304 westus 4.775 0.647968 westus2 3.673 0.615962
Standard_NC24ads_A100_v4 westus3 3.673 0.40403
Standard_NC48ads_A100_v4 centralus 8.301 0.91311 eastus 7.346 0.888866 eastus2 7.346 0.95498
Standard_NC48ads_A100_v4 southcentralus 8.815 1.14595 westus 9.55 1.295935 westus2 7.346 1.231924
Standard_NC48ads_A100_v4 westus3 7.346 0.80806
Standard_NC96ads_A100_v4 centralus 16.602 1.82622 eastus 14.692 1.777732 eastus2 14.692 1.90996
Standard_NC96ads_A100_v4 southcentralus 17.63 2.2919 westus 19.1 2.59187 westus2 14.692 2.463848
Standard_NC96ads_A100_v4 westus3 14.692 1.61612
Standard_NC40ads_H100_v5 eastus 6.98 - eastus2 6.98 - southcentralus 8.38 -
Standard_NC40ads_H100_v5 westus3 6.98 -
Standard_NC80adis_H100_v5 eastus 13.96 - eastus2 13.96 - southcentralus 16.76 -
Standard_NC80adis_H100_v5 westus3 13.96 -
Standard_ND96asr_v4 eastus 27.197 2.99167 southcentralus 32.63 3.5893 westus2 27.197 2.99167
Standard_ND96amsr_A100_v4 eastus 32.77 3.6047 eastus2 32.77 3.611254 southcentralus 39.324 4.32564
Standard_ND96isr_H100_v5 eastus 98.32 - eastus2 98.32 - westus 127.816 -
Standard_NV36ads_A10_v5 eastus 3.2 0.8 eastus2 3.2 0.8 northcentralus 3.84 0.96
Standard_NV36ads_A10_v5 southcentralus 3.84 0.96 westus 4.16 1.04 westus2 3.2 0.8
Standard_NV36ads_A10_v5 westus3 3.2 0.8
Standard_ND40rs_v2 eastus 22.032 2.42352 southcentralus 26.438 2.90818 westus2 22.032 2.42352
Standard_NV6 northcentralus 1.14 0.1254
Standard_NV12 northcentralus 2.28 0.2508
Standard_NV24 northcentralus 4.56 0.5016
Standard_NV12s_v3 eastus 1.14 0.1254 eastus2 1.14 0.13965 southcentralus 1.368 0.15048
Standard_NV12s_v3 westus 1.14 0.1254 westus2 1.14 0.126084
""",
    ),
    Listed(
        "2026-11-18",
        "Azure Retail Prices API (Spot), as collected in the data set ComputeTicks/gpu-cloud-prices",
        "Standard_NV12ads_A10_v5 centralus - 0.167798",
    ),
)
