"""OpenConfig: plans as ``openconfig-qos`` documents (RFC 7951 JSON) and back.

What the model can carry of a plan is defined in `restrict`; `write` and `read` are exact inverses on that.
"""
