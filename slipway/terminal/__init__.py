"""What a person sees: lines, tables, colours and times, harmless wherever their texts are from.

In: texts and times. Out: lines on standard output and standard error.
"""
