/** Requests to the server. The browser adds the cookie of the session. A request with `instance` has the rights of that instance's token. */
import { said, t } from '../texts.js';
import { withLabels } from '../texts/field-labels.js';
import { hasAnswered, isSilent, ofProxies } from './contact.js';

export class ApiError extends Error {
  /**
   * @param {number} status 0 if the server did not answer.
   * @param {string} message One sentence that the page can show.
   * @param {number} [retryAfter] Seconds.
   */
  constructor(status, message, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** @type {() => void} */
let onSignedOut = () => undefined;

/**
 * Sets the function that is called when the server answers 401, because the sign-in has expired.
 * @param {() => void} listener
 */
export const whenSignedOut = (listener) => {
  onSignedOut = listener;
};

/** Resolves when the reader has signed in again: with true for the same person. Null if no sign-in is needed. @type {Promise<boolean> | null} */
let returning = null;

/** Holds all requests until the reader has signed in again. The held requests fail if another person signs in. @param {Promise<boolean>} isSame */
export const holdRequests = (isSame) => {
  returning = isSame.finally(() => {
    returning = null;
  });
};

/** The paths of the sign-in itself. Requests to these paths are never held. */
const ofSignIn = /^\/admin\/session(\/|$)/;

/**
 * @typedef {object} CallOptions
 * @property {string} [instance] The id of the instance in whose name the request is made.
 * @property {unknown} [body] The body, which is sent as JSON.
 * @property {Blob} [bytes] Sent unchanged as the body.
 * @property {AbortSignal} [signal]
 * @property {Record<string, string>} [headers]
 */

/** @param {CallOptions} options */
const headersOf = ({ instance, body, bytes, headers }) => ({
  ...(instance === undefined ? {} : { 'x-instance': instance }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
  ...headers,
});

/**
 * The time-out of a GET without a signal, including the body, in milliseconds. A healthy server answers within 20 s, even if a session has to wake up
 * first. After a time-out the view sends the GET again. Other methods have no time-out, because the page cannot know whether the server executed the
 * request.
 */
export const patienceMs = 30_000;

const unanswered = () => {
  isSilent();
  return new ApiError(0, 'The server does not answer.');
};

/**
 * Sends a request and returns the response, whatever its status. Throws an ApiError with the status 0 if the server does not answer. A request that the
 * server did not admit is sent again if its view waits for the reader to sign in again.
 * @param {string} method
 * @param {string} path
 * @param {CallOptions} [options]
 * @returns {Promise<Response>}
 */
export const send = async (method, path, options = {}) => {
  const { body, bytes, signal } = options;
  const isHeld = () => returning !== null && !ofSignIn.test(path);
  if (isHeld() && !(await returning)) throw new ApiError(401, 'The server answered 401.');
  /** @type {RequestInit} */
  const init = { method, headers: headersOf(options), cache: 'no-store' };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (bytes !== undefined) init.body = bytes;
  if (signal !== undefined) init.signal = signal;
  else if (method === 'GET') init.signal = AbortSignal.timeout(patienceMs);
  const response = await fetch(path, init).catch((error) => {
    throw signal?.aborted ? error : unanswered();
  });
  if (ofProxies.has(response.status)) isSilent();
  else hasAnswered();
  if (response.status === 401) onSignedOut();
  return response.status === 401 && isHeld() ? send(method, path, options) : response;
};

/**
 * Returns the parsed body; an empty object if the body is no JSON, such as the error page of a proxy. Throws an ApiError if the body ends early.
 * @param {Response} response
 */
export const bodyOf = (response) =>
  response.json().catch((error) => {
    if (error instanceof SyntaxError) return {};
    throw unanswered();
  });

/**
 * Sends a request and returns the parsed answer, of the type that the caller expects. Throws an ApiError with the sentence of the server after a refusal.
 * @template T
 * @param {string} method
 * @param {string} path
 * @param {CallOptions} [options]
 * @returns {Promise<T>}
 */
export const call = async (method, path, options) => {
  const response = await send(method, path, options);
  const answer = await bodyOf(response);
  if (response.ok) return answer;
  const wait = Number(response.headers.get('retry-after'));
  throw new ApiError(response.status, answer.error ?? `The server answered ${response.status}.`, wait > 0 ? wait : undefined);
};

/**
 * @template T
 * @param {string} path
 * @param {CallOptions} [options]
 * @returns {Promise<T>}
 */
export const get = (path, options) => call('GET', path, options);

/**
 * @template T
 * @param {string} path
 * @param {unknown} [body]
 * @param {CallOptions} [options]
 * @returns {Promise<T>}
 */
export const post = (path, body, options) => call('POST', path, { ...options, body: body ?? {} });

/** Returns a random idempotency key. The browser offers `crypto.randomUUID` only to pages of HTTPS. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Returns the file as a data URL, which the API accepts instead of an address.
 * @param {File} file
 * @returns {Promise<string>}
 */
export const dataUrlOf = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)));
    reader.readAsDataURL(file);
  });

/** Returns true if the server did not answer. The shell shows a banner then. @param {unknown} failure */
export const isUnanswered = (failure) => failure instanceof ApiError && (failure.status === 0 || ofProxies.has(failure.status));

/** Returns true for a temporary failure: the server does not answer, or is not ready. @param {unknown} failure */
export const isPassing = (failure) => isUnanswered(failure) || (failure instanceof ApiError && failure.status === 503);

/**
 * Returns the text of a failure, which may be any thrown value, in the language of the page. Names of fields are replaced by their labels.
 * @param {unknown} failure
 */
export const textOfFailure = (failure) => withLabels(said(failure instanceof Error ? failure.message : String(failure)), t);

/** Returns the fields of an object; none for another value. @param {unknown} value @returns {Readonly<Record<string, unknown>>} */
export const fieldsOf = (value) => (typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {});
