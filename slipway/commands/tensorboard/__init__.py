"""`slipway tensorboard`: the curves of jobs in a person's own TensorBoard.

In: jobs, sweeps, and TensorBoard's arguments. Out: its exit code.
"""
