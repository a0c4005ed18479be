#!/usr/bin/env sh
# After `azd down`: deletes the role that the template made for the pool, which stands in the subscription, beside the
# resource group. Where there is none, it does nothing. Needs the Azure CLI, signed in as the one who deploys.
set -eu
name="Slipway Pool Scaler $AZURE_ENV_NAME $AZURE_SUBSCRIPTION_ID"
scope="/subscriptions/$AZURE_SUBSCRIPTION_ID"

# Its grant goes with the account, which takes effect after a while.
tries=0
while :; do
    id=$(az role definition list --custom-role-only true --name "$name" --scope "$scope" --query "[].name" --output tsv)
    [ -n "$id" ] || exit 0
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || { echo "role.sh: $name is still granted to someone: remove that, then delete the role" >&2; exit 1; }
    az role definition delete --custom-role-only true --name "$name" --scope "$scope" --output none || sleep 15
done
