/** Types that all parts of the `Sandbox` interface share. */

/** A number in international form, digits only. */
export type Digits = string;

/** A bad request to the sandbox. `status` is the HTTP status of the control interface's answer. */
export class SandboxError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
