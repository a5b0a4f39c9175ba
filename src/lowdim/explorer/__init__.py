"""The explorer: a page and a notebook widget that show, examine and compute maps.

``session`` holds the data and ``running_fits`` the maps, ``protocol`` answers the requests of the page, ``server`` and
``widget`` carry the messages. Nothing here loads a web framework until a page is opened.
"""
