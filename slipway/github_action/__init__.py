"""The GitHub Action of `action.yml`: runs a job, and says in the summary of the workflow how it ended.

In: the inputs (INPUT_…), SLIPWAY_URL and SLIPWAY_KEY. Out: the job's output in the directory INPUT_TO, the
files GITHUB_OUTPUT and GITHUB_STEP_SUMMARY, and the job's exit code. What is ended before the job cancels it.
"""
