#!/bin/sh
# A role and a database for each service, at the first start of the server.
set -eu
for service in payments toolhub; do
  variable="$(echo "$service" | tr '[:lower:]' '[:upper:]')_DATABASE_PASSWORD"
  password="$(printenv "$variable")"
  psql -v ON_ERROR_STOP=1 -U postgres -v name="$service" -v password="$password" <<'SQL'
create role :"name" login password :'password';
create database :"name" owner :"name";
SQL
done
