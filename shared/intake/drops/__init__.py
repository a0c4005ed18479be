"""Drops: folders of the drop container that become jobs once they are complete and quiet.

Comes in: names of blobs, and the timer that finds what no event brought. Goes out: candidates for `accept`.
"""
