"""What people see on a terminal: tables, plans as trees, errors in colour."""
