/** Errors with which a port rejects. */

/**
 * Storage cannot do the work now. A later retry is safe: the work was not done, or repeating it does no harm. HTTP answers 503 with Retry-After and
 * names the subclass.
 */
export class StorageFailure extends Error {
  override readonly name: string = 'StorageFailure';
}

/** The database cannot be reached, or does not answer. The gateway is unready until the database answers. */
export class StorageUnavailable extends StorageFailure {
  override readonly name = 'StorageUnavailable';
}

/** The database stopped a statement at its time-out. */
export class StorageSlow extends StorageFailure {
  override readonly name = 'StorageSlow';
}

/** The database takes no more work now. Every connection for this kind of work is in use, or a conflict repeated too often. */
export class StorageBusy extends StorageFailure {
  override readonly name = 'StorageBusy';
}

/** The disk of the database is full. The gateway is unready until the disk has room again. */
export class StorageFull extends StorageFailure {
  override readonly name = 'StorageFull';
}

/**
 * The database reports an error that is independent of the data: a table is missing, a page is damaged, a right was revoked. The message names the
 * error. Work waits for the repair, as it waits during an outage of the database.
 */
export class StorageBroken extends StorageFailure {
  override readonly name = 'StorageBroken';
}

/** The file storage does not answer now, or has no room. */
export class FilesUnavailable extends StorageFailure {
  override readonly name = 'FilesUnavailable';
}

/** A write carried an outdated epoch. Another process owns the instance, and this process must not write any more. */
export class EpochLost extends Error {
  override readonly name = 'EpochLost';
}
