"""Drops: folders of the drop container that become jobs once they are complete and quiet.

In: names of blobs, and the timer that finds what no event brought. Out: candidates for `accept`.
"""
