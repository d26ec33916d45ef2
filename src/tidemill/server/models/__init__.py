"""What goes over the wire, as OpenAPI describes it."""
