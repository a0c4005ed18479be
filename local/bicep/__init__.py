"""Checks of the Bicep templates in infra/ without the compiler, so without a network.

In: *.bicep, and the types that Microsoft publishes for Azure's resources. Out: findings with the
compiler's codes. What needs the compiler (types of expressions, scopes) is left to the workflow.
"""
