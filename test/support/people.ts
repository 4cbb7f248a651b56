/** Creates and signs in users of a whole service, each from its own IP address, and reads the audit log. */
import assert from 'node:assert/strict';
import type { TestService } from './service.ts';

export interface AuditEntry {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly who: string;
  readonly address: string;
  readonly method: string;
  readonly route: string;
  readonly instance: string;
  readonly subject: string;
  readonly status: number;
}

/** The headers of requests from the page of the dashboard. */
export const own = { 'sec-fetch-site': 'same-origin' };
export const password = 'a long enough secret';

export const peopleOf = (service: TestService) => {
  let made = 0;
  /** Returns a header with a new IP address, so that wrong passwords of one test do not count for another test. */
  const elsewhere = (): Readonly<Record<string, string>> => ({ 'x-forwarded-for': `198.51.100.${(made += 1)}` });

  const newUser = async (role: string, name = `${role}-${(made += 1)}`) => {
    const { status, body } = await service.admin('POST', '/admin/users', { name, role, password });
    assert.equal(status, 200, JSON.stringify(body));
    return body as { readonly id: string; readonly name: string };
  };

  const signIn = (body: object, headers: Readonly<Record<string, string>> = elsewhere()) =>
    service.call('POST', '/admin/session/user', headers, body);

  /** Signs a user in. Returns the headers of later requests of the browser. */
  const signedIn = async (name: string, more: object = {}) => {
    const reply = await signIn({ name, password, ...more });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    const cookie = (reply.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const ask = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      service.call(method, path, { cookie, ...own, ...headers }, body);
    return { cookie, reply, ask };
  };

  const audit = async (query: string): Promise<readonly AuditEntry[]> => {
    const { status, body } = await service.admin('GET', `/admin/audit?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return (body as { readonly entries: readonly AuditEntry[] }).entries;
  };

  return { elsewhere, newUser, signIn, signedIn, audit };
};
