#!/bin/sh
# The role and database of Groundwork, with pgvector, made when PostgreSQL starts for the first time. The role owns its database and is no
# superuser: row-level security holds for it.
set -eu
psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -v password="$GROUNDWORK_PASSWORD" -d postgres <<'SQL'
CREATE ROLE groundwork LOGIN PASSWORD :'password';
CREATE DATABASE groundwork OWNER groundwork;
\connect groundwork
CREATE EXTENSION vector;
SQL
