/** The error of a body that no route can take. */

/** 401 to 404: the credential ended before the body did. */
type BodyStatus = 400 | 401 | 403 | 404 | 413 | 415 | 429;

/** A body that no route can take; one place turns it into an answer of this status. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly statusCode: BodyStatus;
  constructor(statusCode: BodyStatus, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
