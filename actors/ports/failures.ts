/** Errors with which a port rejects. */

/** The database cannot be reached now. Nothing was stored; trying again later is safe. HTTP answers 503. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** A write carried an epoch that is not the instance's any more: another node owns it. */
export class EpochLost extends Error {
  override readonly name = 'EpochLost';
}
