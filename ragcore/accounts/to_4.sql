-- Views that PostgreSQL understands, too.
DROP VIEW IF EXISTS roles;
DROP VIEW IF EXISTS holders;
