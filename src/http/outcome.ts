/** Results on their way out: how routes make and turn them. */
import type { Result } from '#actors/gateway.ts';

export { done, refuse, unknownInstance } from '#actors/gateway.ts';

/** Turns the value of a result and leaves a refusal as it is. */
export const mapResult = <Value, Answer>(result: Result<Value>, view: (value: Value) => Answer): Result<Answer> =>
  result.ok ? { ok: true, value: view(result.value) } : result;
