/** Errors with which a port rejects. */

/**
 * Storage did not do the work now. Doing the same work again later is right: it was not done, or (when the answer was lost) does no harm twice.
 * HTTP answers 503 with Retry-After, and says which of these it was.
 */
export class StorageFailure extends Error {
  override readonly name: string = 'StorageFailure';
}

/** The database is away: there is no connection to it, or none that answers. Only this one makes the gateway unready. */
export class StorageUnavailable extends StorageFailure {
  override readonly name = 'StorageUnavailable';
}

/** The database is there, and stopped a statement that took longer than it may. */
export class StorageSlow extends StorageFailure {
  override readonly name = 'StorageSlow';
}

/** The database is there, and takes no more work now: every connection for this kind of work is in use, or a conflict came again and again. */
export class StorageBusy extends StorageFailure {
  override readonly name = 'StorageBusy';
}

/** The disk of the database is full. The gateway is unready until the disk has room again. */
export class StorageFull extends StorageFailure {
  override readonly name = 'StorageFull';
}

/**
 * The database answers with an error that says nothing about the data it was given: a table is missing, a page is damaged, a right was revoked.
 * The message names the error. Work waits for the repair, as it waits for a database that is away.
 */
export class StorageBroken extends StorageFailure {
  override readonly name = 'StorageBroken';
}

/** Where files are kept does not answer now, or has no room. */
export class FilesUnavailable extends StorageFailure {
  override readonly name = 'FilesUnavailable';
}

/** A write carried an epoch that is not the instance's any more: another process owns it, and this one writes nothing more. */
export class EpochLost extends Error {
  override readonly name = 'EpochLost';
}
