"""The explorer: a page and a notebook widget in which maps are looked at, questioned and made.

``session`` holds the data and ``jobs`` the maps, ``protocol`` answers what the page asks, ``server`` and ``widget``
carry the messages. Nothing here loads a web framework until a page is opened.
"""
