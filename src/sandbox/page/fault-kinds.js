/**
 * All kinds of faults: label, description, and further fields with their usual values. An `anonymous` fault happens before a client says which
 * phone it belongs to, so that it cannot be limited to one phone.
 */
export const faultKinds = {
  close: { label: 'Close the connection', help: 'The WebSocket closes with a code.', fields: { code: 1000 } },
  reset: { label: 'Reset the connection', help: 'The connection breaks off without a goodbye.', fields: {} },
  silence: { label: 'Fall silent', help: 'The socket stays open, nothing more is said, not even answers to pings.', fields: {} },
  streamError: { label: 'Stream error', help: 'The platform ends the stream with an error code, such as 500, 503 or 515.', fields: { code: 503 } },
  streamEnd: { label: 'End of stream', help: 'The platform ends the stream without an error.', fields: {} },
  conflict: { label: 'Replaced by another login', help: 'The stream error of a second login with the same device.', fields: {} },
  deviceRemoved: { label: 'Device removed', help: 'The stream error of a phone that removed the device; it stays linked here.', fields: {} },
  loginFailure: { label: 'Refuse the next login', help: 'With a reason: 401 logged out, 403 locked, 405 client too old, 503 …', fields: { code: 403, times: 1 } },
  refuseUpgrade: { label: 'Refuse the next connection', help: 'The upgrade is answered with an HTTP status.', anonymous: true, fields: { code: 503, times: 1 } },
  silentHandshake: { label: 'Silent handshake', help: 'The next connection never gets a hello.', anonymous: true, fields: { times: 1 } },
  garbageHandshake: { label: 'Garbage in the handshake', help: 'The next hello cannot be read.', anonymous: true, fields: { times: 1 } },
  badCertificate: { label: 'Wrong certificate', help: 'The next hello carries a certificate of a stranger.', anonymous: true, fields: { times: 1 } },
  corruptFrame: { label: 'Corrupt frame', help: 'A frame arrives that does not decrypt.', fields: {} },
  noLogin: { label: 'Never answer the next login', help: 'Pings are answered all the while.', fields: { times: 1 } },
  closeAfterLogin: { label: 'Close right after the login', help: 'The next login succeeds, then the socket closes.', fields: { times: 1 } },
  delay: { label: 'Delay everything', help: 'Everything the platform says waits; 0 times ends it.', fields: { ms: 2000, times: 1 } },
  noAck: { label: 'Do not acknowledge messages', help: 'Sent messages stay without an answer; 0 times ends it.', fields: { times: 1 } },
  ackError: { label: 'Refuse messages', help: 'Sent messages are refused with an error code; 0 times ends it.', fields: { code: 479, times: 1 } },
  refuseStrangers: { label: 'Refuse messages to strangers', help: 'To people who never wrote to the account: 463 restricted, 475 too many new chats.', fields: { code: 463, times: 1 } },
  refuseLookups: { label: 'Refuse to look numbers up', help: 'Whether a number has an account is answered with an error code.', fields: { code: 429, times: 1 } },
  garble: { label: 'Break messages on their way', help: 'Phones cannot decrypt them and ask for them again.', fields: { times: 1 } },
  uploadRefused: { label: 'Refuse uploads', help: 'The media host answers uploads with an HTTP status.', anonymous: true, fields: { code: 507, times: 1 } },
  uploadUnauthorised: { label: 'Let the right to upload run out', help: 'The next upload gets 401, and its client has to ask for a new right.', anonymous: true, fields: { times: 1 } },
  uploadSlow: { label: 'Slow uploads', help: 'The media host takes nothing of the next uploads for a while.', anonymous: true, fields: { ms: 5000, times: 1 } },
  uploadCut: { label: 'Cut uploads', help: 'The connection breaks off after half of the next uploads.', anonymous: true, fields: { times: 1 } },
  duplicate: { label: 'Deliver twice', help: 'The next messages to the account arrive twice.', fields: { times: 1 } },
};
