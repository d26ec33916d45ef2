"""What goes over the wire: every shape of the HTTP API, for servers, clients and the page."""
