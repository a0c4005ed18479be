"""The triggers: unwrap the binding, make one call, map the outcome. `azure.functions` lives only here."""
