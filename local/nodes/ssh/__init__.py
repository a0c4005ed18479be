"""Ways to the nodes of a job: from one to another, and for people from outside.

In: the nodes of a job, and what its processes have there. Out: a program, and commands beside the job.
"""
