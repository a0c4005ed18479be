#!/usr/bin/env sh
# After `azd provision`: makes the key that seals secret values and the secret that signs webhooks, where the vault has
# none. A secret that is there is never read, printed or replaced. Needs the Azure CLI, signed in as the one who deploys.
set -eu
vault=$AZURE_KEY_VAULT_NAME

# The role on a new vault takes effect after a while.
tries=0
until names=$(az keyvault secret list --vault-name "$vault" --query "[].name" --output tsv); do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || { echo "secrets.sh: $vault does not let you list its secrets: Key Vault Secrets Officer is needed" >&2; exit 1; }
    sleep 15
done

# $1: name, $2: the text before and $3 after 32 random bytes in base64
make() {
    if printf '%s\n' "$names" | grep -qx "$1"; then
        echo "$1: there already"
        return
    fi
    # Deleted, and not yet gone: the name cannot be used again, and its value may still be needed.
    if az keyvault secret recover --vault-name "$vault" --name "$1" --output none 2>/dev/null; then
        echo "$1: was deleted, and is recovered"
        return
    fi
    file=$(mktemp)
    trap 'rm -f "$file"' EXIT
    { printf '%s' "$2"; head -c 32 /dev/urandom | base64 | tr -d '\n'; printf '%s' "$3"; } >"$file"
    az keyvault secret set --vault-name "$vault" --name "$1" --file "$file" --encoding utf-8 --output none
    rm -f "$file"
    echo "$1: made"
}

make seal-key '' ''
make webhook-secrets '{"default": "whsec_' '"}'

# The app looks at its references once a day; this makes it look now.
az rest --method post --output none --url "https://management.azure.com/subscriptions/$AZURE_SUBSCRIPTION_ID/resourceGroups/$AZURE_RESOURCE_GROUP/providers/Microsoft.Web/sites/$AZURE_FUNCTION_APP_NAME/config/configreferences/appsettings/refresh?api-version=2022-03-01"
