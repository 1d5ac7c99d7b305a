"""What Alembic runs: it finds the connection, with its open transaction, in the configuration's attributes."""

from alembic import context

from enfilade.store.schema import VERSION_TABLE, make_tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=make_tables().metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
