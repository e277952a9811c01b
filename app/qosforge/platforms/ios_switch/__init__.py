"""What the Catalyst switches that run IOS have in common: ACLs, class-maps, CoS and DSCP maps, queue choice."""
