"""Discovery: from seed devices, by what their neighbours announce, to an inventory."""
