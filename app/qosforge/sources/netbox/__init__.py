"""NetBox as a source of inventories, read over its REST API with pynetbox.

Field names are those of the API of NetBox 4.7. Versions since 3.3, which introduced lists of connected endpoints,
are understood (https://netboxlabs.com/docs/netbox/integrations/rest-api/).
"""

from qosforge.sources.netbox.reading import NetBoxPlugin

PLUGIN = NetBoxPlugin()
