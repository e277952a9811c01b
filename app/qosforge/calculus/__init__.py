"""Network calculus: arrival curves of streams, service curves of queues, and the delay bounds that follow."""
