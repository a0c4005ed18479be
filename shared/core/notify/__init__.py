"""Events and who receives them: their bytes, the schedule of tries, the gate of addresses. Pure."""
