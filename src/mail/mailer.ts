/** Sends mails over SMTP. Each mail has its own connection with a time limit, and only allowed addresses are contacted. */
import { isIP } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { createTransport } from 'nodemailer';
import type { Mailer } from '#actors/ports.ts';
import { type AddressGuard, deadline, reasonOf } from '#src/webhooks/address-guard.ts';

interface MailerOptions {
  readonly guard: AddressGuard;
  /** Time limit from the look-up of the mail server's name to the last answer of the server. In milliseconds. */
  readonly timeoutMs: number;
}

/** Resolves the name of a server. Rejects if the address is not allowed. */
const addressOf = (guard: AddressGuard, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const refusal = guard.checkHost(host);
    if (refusal !== null) return reject(Object.assign(new Error(refusal), { refusal }));
    guard.lookup(host, { all: false }, (error, address) => {
      if (error) reject(error);
      else resolve(String(address));
    });
  });

/** Sentences by the name of a system error. The library gives only the number of the error. */
const system: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the mail server refuses connections at this port',
  ECONNRESET: 'the mail server closed the connection',
  EPIPE: 'the mail server closed the connection',
  EHOSTUNREACH: 'the mail server cannot be reached over the network',
  ENETUNREACH: 'the mail server cannot be reached over the network',
};

/** Sentences for failures of TLS. These have no code, so the texts of OpenSSL and Node are matched. */
const tls: readonly (readonly [RegExp, string])[] = [
  [/wrong version number|packet length too long|unknown protocol/, 'the mail server does not speak TLS at this port'],
  [/certificate|altnames|unable to verify/i, 'the certificate of the mail server is not trusted'],
  [/SSL routines|\bTLS\b/, 'the TLS handshake with the mail server failed'],
];

/** Sentences by the error code of the library. The text of a server may repeat a secret that was sent, so only its status is shown. */
const sentences: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not take the user and the password',
  EENVELOPE: 'the mail server does not take the sender or a recipient',
  EMESSAGE: 'the mail server does not take the message',
  ETLS: 'the mail server offers no usable encryption',
  ESOCKET: 'the connection to the mail server failed',
  ECONNECTION: 'the mail server closed the connection',
  ETIMEDOUT: 'the mail server gave no answer in time',
  EDNS: 'the name of the mail server could not be looked up',
};

/** Returns the reason for which a socket failed; undefined if it is not known. */
const socketSentence = ({ errno, message }: { readonly errno?: unknown; readonly message?: unknown }): string | undefined =>
  typeof errno === 'number' ? system[getSystemErrorName(errno)] : tls.find(([words]) => words.test(String(message)))?.[1];

const sentenceOf = (error: unknown): string => {
  const { refusal, code, responseCode } = error as { refusal?: string; code?: unknown; responseCode?: unknown };
  if (refusal !== undefined) return `the mail server is ${refusal}`;
  const status = typeof responseCode === 'number' ? ` (${responseCode})` : '';
  const ofSocket = code === 'ESOCKET' || code === 'ETLS' ? socketSentence(error as object) : undefined;
  const sentence = ofSocket ?? (typeof code === 'string' ? sentences[code] : undefined);
  return sentence === undefined ? `the mail could not be sent: ${reasonOf(error)}` : sentence + status;
};

export const createMailer = ({ guard, timeoutMs }: MailerOptions): Mailer => ({
  async send({ host, port, security, user, password }, { id, from, to, subject, text }) {
    const { signal, clear } = deadline(timeoutMs);
    let close = (): void => undefined;
    try {
      const late = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(Object.assign(new Error('late'), { code: 'ETIMEDOUT' }))),
      );
      const sent = async (): Promise<number> => {
        const address = await addressOf(guard, host);
        if (signal.aborted) return 0;
        const transport = createTransport({
          host: address,
          port,
          secure: security === 'tls',
          requireTLS: security === 'startTls',
          ignoreTLS: security === 'none',
          // An IP address is no valid server name in a TLS handshake.
          tls: isIP(host) > 0 ? {} : { servername: host },
          connectionTimeout: timeoutMs,
          greetingTimeout: timeoutMs,
          socketTimeout: timeoutMs,
          disableFileAccess: true,
          disableUrlAccess: true,
          ...(user === '' ? {} : { auth: { user, pass: password } }),
        });
        close = () => transport.close();
        const { rejected } = await transport.sendMail({ from, to: [...to], subject, text, messageId: `<${id}@dormouse>` });
        return rejected.length;
      };
      const work = sent();
      // Without this handler, a failure after the time limit would be an unhandled rejection.
      work.catch(() => undefined);
      const refused = await Promise.race([work, late]);
      return { sent: true, error: refused === 0 ? '' : `the mail server did not take ${refused} of ${to.length} recipients` };
    } catch (error) {
      return { sent: false, error: sentenceOf(error) };
    } finally {
      clear();
      close();
    }
  },
});
