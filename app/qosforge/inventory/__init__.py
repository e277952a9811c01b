"""The inventory: devices, interfaces, links, stations, offered traffic and change rules of a network."""
