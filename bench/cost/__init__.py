"""What a day's jobs cost: calls counted over ports in memory, times dated prices."""
