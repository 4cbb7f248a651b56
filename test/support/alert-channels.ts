/** Test servers for the channels of alerts, on loopback: a real SMTP server, and an HTTP server in place of Telegram, Slack and webhooks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The headers and the body of the mail as received. */
  readonly text: string;
  readonly user: string;
  readonly isEncrypted: boolean;
}

export interface MailServerStandIn {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  close(): Promise<void>;
}

const credentials = { user: 'gateway', password: 'mail-password' } as const;

export const mailLogin = credentials;

/** Returns the e-mail settings of alerts for this server. The password is stored separately as a secret. */
export const mailSettings = ({ port }: MailServerStandIn) => ({
  host: '127.0.0.1',
  port,
  security: 'none',
  user: credentials.user,
  from: 'gateway@test.example',
  to: ['ana@test.example'],
});

/** Returns the subjects of the mails that this server received. */
export const subjectsOf = ({ mails }: MailServerStandIn): readonly string[] =>
  mails.map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1] ?? '');

/** Opens a mail server. It requires a login unless `options` change that. */
export const openMailServer = async (options: SMTPServerOptions = {}): Promise<MailServerStandIn> => {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onAuth({ username, password }, _session, done) {
      const isRight = username === credentials.user && password === credentials.password;
      if (isRight) done(null, { user: username });
      else done(new Error(`wrong password ${password}`));
    },
    onData(stream, { envelope, user, secure }, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const text = Buffer.concat(pieces).toString('utf8');
        mails.push({ from, to: rcptTo.map(({ address }) => address), text, user: String(user ?? ''), isEncrypted: secure });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
};

export interface ReceivedPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface PostsStandIn {
  readonly address: string;
  readonly posts: readonly ReceivedPost[];
  /** The status of all later answers. */
  status: number;
  close(): Promise<void>;
}

export const openPosts = async (): Promise<PostsStandIn> => {
  const posts: ReceivedPost[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8');
      posts.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) as ReceivedPost['body'] });
      response.writeHead(standIn.status, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const standIn: PostsStandIn = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    status: 200,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
};
