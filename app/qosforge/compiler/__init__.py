"""The compiler: from an intent and a network to each device's plan, configuration and candidate."""
