"""What helps where storage refuses an address that the deployment has signed."""

#: How storage names an address that is signed by another key, or for another time.
NOT_VALID = "AuthenticationFailed"
#: By the name of the refusal; "" for any other.
ADVICE = {
    NOT_VALID: "the clock or the key of the deployment may be wrong; tell its operator",
    "": "if its network rules keep this machine out, let them admit its address",
}
