"""What devices with the modular QoS command line have in common: access lists, class-maps, policers, shares."""
