/**
 * The browser of the owner of an account: Chromium with the extension of the dashboard, a virtual authenticator, and a local page at
 * https://web.whatsapp.com. The policy of this page is as strict as the real one and lets no script talk to another server. The page of evil.example has no
 * policy.
 */
import assert from 'node:assert/strict';
import { createHash, createPublicKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { generate } from 'selfsigned';
import { findBrowser } from './browser.ts';
import { browserPatience } from './dashboard.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { unzip } from './zip.ts';

const site = 'https://web.whatsapp.com';
const policy = "default-src 'self'; connect-src 'self'; script-src 'self'; style-src 'self'";
const page = '<!doctype html><html lang="en"><title>WhatsApp Web</title><h1>WhatsApp Web</h1></html>';

interface Certificate {
  readonly private: string;
  readonly cert: string;
}

const certificate = async (): Promise<Certificate> => {
  const names = [
    { type: 2 as const, value: 'web.whatsapp.com' },
    { type: 2 as const, value: 'evil.example' },
  ];
  return generate([{ name: 'commonName', value: 'web.whatsapp.com' }], { extensions: [{ name: 'subjectAltName', altNames: names }] });
};

/** Returns the pin with which the browser accepts only this certificate of a local server. */
const pinOf = (cert: string): string =>
  createHash('sha256')
    .update(createPublicKey(cert).export({ type: 'spki', format: 'der' }))
    .digest('base64');

const serve = async ({ private: key, cert }: Certificate): Promise<Server> => {
  const server = createServer({ key, cert }, ({ headers }, response) => {
    const isPlatform = headers.host === 'web.whatsapp.com';
    response.writeHead(200, { 'content-type': 'text/html', ...(isPlatform ? { 'content-security-policy': policy } : {}) });
    response.end(page);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  return server;
};

/** Fetches the archive from the gateway and unpacks it. Returns the folder of the extension. */
const unpack = async (gateway: string, folder: string): Promise<string> => {
  const response = await fetch(`${gateway}/admin/extension.zip`);
  assert.equal(response.status, 200);
  for (const [name, bytes] of unzip(Buffer.from(await response.arrayBuffer()))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return join(folder, 'dormouse-passkey');
};

type Creation = Readonly<Record<string, unknown>>;

export class PasskeyBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #server: Server;
  readonly #folder: string;

  private constructor(context: BrowserContext, page: Page, server: Server, folder: string) {
    this.context = context;
    this.page = page;
    this.#server = server;
    this.#folder = folder;
  }

  static async open(gateway: string): Promise<PasskeyBrowser> {
    const executablePath = findBrowser();
    assert.ok(executablePath !== null);
    const folder = temporaryFolder();
    const made = await certificate();
    const [server, extension] = [await serve(made), await unpack(gateway, folder)];
    const { port } = server.address() as AddressInfo;
    const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
      executablePath,
      ignoreDefaultArgs: ['--disable-extensions'],
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        `--disable-extensions-except=${extension}`,
        `--load-extension=${extension}`,
        `--host-resolver-rules=MAP web.whatsapp.com:443 127.0.0.1:${port}, MAP evil.example:443 127.0.0.1:${port}`,
        `--ignore-certificate-errors-spki-list=${pinOf(made.cert)}`,
      ],
    });
    const opened = await context.newPage();
    opened.setDefaultTimeout(browserPatience);
    const session = await context.newCDPSession(opened);
    await session.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    } as const;
    await session.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } });
    return new PasskeyBrowser(context, opened, server, folder);
  }

  /** Creates a passkey on the page of the platform, as the app of the platform does. */
  async register(options: Creation): Promise<Creation> {
    await this.page.goto(site);
    // The script is text, because the types of a page are not those of this program.
    const publicKey = `PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)})`;
    return this.page.evaluate(`navigator.credentials.create({ publicKey: ${publicKey} }).then((made) => made.toJSON())`);
  }

  /** Opens the page by the link of the dashboard. */
  async follow(link: string): Promise<void> {
    await this.page.goto('about:blank');
    await this.page.goto(`${site}/#dormouse=${encodeURIComponent(link)}`);
  }

  async close(): Promise<void> {
    await this.context.close();
    await new Promise((resolve) => void this.#server.close(resolve));
    await removeFolder(this.#folder);
  }
}
