"""What every file of this package that is a database is made, opened, locked and closed with."""
