"""The list of jobs: days, folds, the chosen ones, sweeps, and what people come for."""
