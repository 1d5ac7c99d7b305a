"""The records of this host's runs: gives each run its record, and sees to it that what was written lasts."""

from enfilade.store.database import Database
from enfilade.store.masking import Masking
from enfilade.store.pen import Pen
from enfilade.store.run_record import RunRecord
from enfilade.store.settings import StoreSettings
from enfilade.store.start import RunStart
from enfilade.store.writer import Writer


class Records:
    """Appends records as things happen. A record is in the store within the interval, the host may die then.

    Args:
        database: Where to.
        settings: How much may wait, how long, and what happens when the store cannot be written.
        host_id: Whose runs these are.
    """

    def __init__(self, database: Database, settings: StoreSettings, host_id: str) -> None:
        self._settings = settings
        self._host_id = host_id
        self._writer = Writer(database, settings)

    @property
    def waiting(self) -> int:
        """How many records are not written yet."""
        return self._writer.waiting

    async def run_began(self, start: RunStart) -> RunRecord:
        """Opens the record of a run.

        Raises:
            StoreError: The store cannot be written, and runs are to fail then, or no more may wait.
        """
        pen = Pen(self._writer, Masking(start.secrets), strict=self._settings.on_failure == "fail")
        await pen.ready()
        record = RunRecord(pen, start, self._settings.file_bytes)
        record.began(self._host_id)
        return record

    async def flush(self) -> None:
        """Waits until everything that was recorded is in the store.

        Raises:
            StoreError: The store cannot be written now; what was recorded still waits and is tried again.
        """
        await self._writer.flush()

    async def aclose(self, seconds: float = 5.0) -> None:
        """Writes what waits, for so long. What could not be written is logged with its number."""
        await self._writer.close(seconds)
