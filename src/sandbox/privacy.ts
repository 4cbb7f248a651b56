/** Who may see what of whom. */
import { addressBookHas } from './app-state/address-book.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

type Category = 'profile' | 'status' | 'last' | 'online';

/** `profile`: the picture, `status`: the about text, `last`: when somebody was online last, `online`: whether somebody is. */
export function maySee(parts: Pick<Parts, 'appState' | 'people'>, owner: Person, viewer: Person, category: Category): boolean {
  if (owner === viewer) return true;
  if (owner.blocked.includes(viewer.number)) return false;
  const wish = owner.privacy[category] ?? 'all';
  if (wish === 'match_last_seen') return maySee(parts, owner, viewer, 'last');
  return wish === 'all' || (wish !== 'none' && addressBookHas(parts, owner.number, viewer.number));
}
