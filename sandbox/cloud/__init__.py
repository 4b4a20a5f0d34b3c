"""Programs on rented machines: the local sandbox, carried into E2B's virtual machines and asked from here."""
