"""Checks of the Bicep templates in infra/ without the compiler, so without a network.

In: *.bicep. Out: findings about syntax, with the compiler's codes, and about the project's rules. What needs
the compiler (types of resources and of expressions, scopes) is left to the workflow.
"""
