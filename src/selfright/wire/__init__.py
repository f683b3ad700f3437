"""What goes over the wire: the bodies of requests and replies, read by the service and by its client alike."""
