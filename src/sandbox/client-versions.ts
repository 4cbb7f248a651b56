/** The rules for versions of clients. A version may be new enough to log in and too old to link a device ("Couldn't link device", no `pair-success`). */
import type { proto } from '@whiskeysockets/baileys';
import { SandboxError, type VersionRules } from './interface.ts';

const format = /^\d+\.\d+\.\d+$/;

export class ClientVersions {
  #rules: VersionRules = {};

  /** Sets the rules. An absent rule allows every version. */
  require(rules: VersionRules): void {
    const { newForms: _, ...versions } = rules;
    for (const version of Object.values(versions)) if (!format.test(version)) throw new SandboxError(400, `${version} is no version`);
    this.#rules = rules;
  }

  get current(): string | null {
    return this.#rules.current ?? null;
  }

  get newForms(): boolean {
    return this.#rules.newForms ?? false;
  }

  mayConnect(version: string): boolean {
    return version !== this.#rules.broken && isAtLeast(version, this.#rules.connect);
  }

  mayLink(version: string): boolean {
    return isAtLeast(version, this.#rules.link);
  }
}

export function versionOf({ userAgent }: proto.ClientPayload): string {
  const { primary, secondary, tertiary } = userAgent?.appVersion ?? {};
  return [primary, secondary, tertiary].map((part) => part ?? 0).join('.');
}

function isAtLeast(version: string, oldest: string | undefined): boolean {
  if (oldest === undefined) return true;
  const parts = version.split('.').map(Number);
  const bounds = oldest.split('.').map(Number);
  const at = bounds.findIndex((bound, n) => bound !== parts[n]);
  return at < 0 || (parts[at] ?? 0) > (bounds[at] ?? 0);
}
