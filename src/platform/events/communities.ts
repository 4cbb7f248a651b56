/** Keeps in memory which groups belong to which community, so that messages need no query to the platform or the storage. */
import { parentCommunity, type Entry, type GroupChange, type GroupFacts, type ParentCommunity, type PictureKind } from '#actors/model.ts';
import type { KnownGroups } from '#actors/ports.ts';

interface Membership {
  readonly parent: string;
  /** True for the announcement group of the community. */
  readonly isDefault: boolean;
}

type Pictures = Readonly<Record<PictureKind, string>>;
const noPictures: Pictures = { image: '', preview: '' };

const changeIn = (entry: Entry): GroupChange | null => (entry.kind === 'news' && entry.news.type === 'groups' ? entry.news.group : null);

export class Communities {
  readonly #nameOf: (groupId: string) => string;
  /** Memberships by the id of the subgroup. */
  readonly #memberships: Map<string, Membership>;
  /** Picture addresses by the id of the community. */
  readonly #pictures: Map<string, Pictures>;
  /** Cached views by the id of the community, until a community changes. Every message in a subgroup needs such a view. */
  readonly #made = new Map<string, ParentCommunity>();

  constructor({ memberships, pictures }: Pick<KnownGroups, 'memberships' | 'pictures'>, nameOf: (groupId: string) => string) {
    this.#nameOf = nameOf;
    this.#memberships = new Map(memberships.map(({ id, ...membership }) => [id, membership]));
    this.#pictures = new Map(pictures.map(({ id, ...addresses }) => [id, addresses]));
  }

  /** Returns the community of a group. Returns null for a group without a community. */
  of(groupId: string): ParentCommunity | null {
    const id = this.#memberships.get(groupId)?.parent;
    if (id === undefined) return null;
    const made = this.#made.get(id) ?? this.#make(id);
    this.#made.set(id, made);
    return made;
  }

  /** Applies changes of groups. Call this after their names are updated. Returns entries for the chats of the affected subgroups. */
  apply(entries: readonly Entry[]): readonly Entry[] {
    return this.#patches(entries.flatMap((entry) => this.#concerned(entry)));
  }

  /** Stores a picture of a community. Returns entries for the chats of its subgroups. */
  pictured(id: string, kind: PictureKind, url: string): readonly Entry[] {
    const known = this.#pictures.get(id) ?? noPictures;
    const groups = this.#groupsOf(id);
    if (groups.length === 0 || known[kind] === url) return [];
    this.#pictures.set(id, { ...known, [kind]: url });
    return this.#patches(groups);
  }

  #make(id: string): ParentCommunity {
    const { image, preview } = this.#pictures.get(id) ?? noPictures;
    const defaultGroup = this.#groupsOf(id).find((group) => this.#memberships.get(group)?.isDefault) ?? '';
    return { id, name: this.#nameOf(id), image, preview, defaultGroup };
  }

  #groupsOf(parent: string): readonly string[] {
    return [...this.#memberships].flatMap(([id, one]) => (one.parent === parent ? [id] : []));
  }

  #patches(groupIds: readonly string[]): readonly Entry[] {
    if (groupIds.length > 0) this.#made.clear();
    return [...new Set(groupIds)].map((chatId) => ({
      kind: 'chat',
      chat: { chatId, extra: { [parentCommunity]: this.of(chatId) } },
      create: false,
    }));
  }

  /**
   * Updates the memberships after an entry. Returns the subgroups whose view may have changed, because they have another community, or because the name or
   * the announcement group of their community changed.
   */
  #concerned(entry: Entry): readonly string[] {
    if (entry.kind === 'group') return this.#whole(entry.group.id, entry.group);
    if (entry.kind === 'groupGone') return this.#gone(entry.groupId);
    const { groupId, change } = changeIn(entry) ?? {};
    if (groupId === undefined || change === undefined) return [];
    switch (change.kind) {
      case 'entered':
        return this.#whole(change.group.id, change.group);
      case 'deleted':
        return this.#gone(groupId);
      case 'settings':
        return change.settings.subject === undefined ? [] : this.#groupsOf(groupId);
      case 'linked':
      case 'unlinked': {
        const ids = change.groups.map(({ id }) => id);
        const [groups, parent] = change.type === 'parent_group' ? [[groupId], ids[0] ?? ''] : [ids, groupId];
        if (change.type === 'sibling_group') return [];
        return groups.flatMap((id) => (change.kind === 'linked' ? this.#link(id, parent) : this.#move(id, '', false)));
      }
      default:
        return [];
    }
  }

  #whole(id: string, { parent, isDefaultSubgroup = false, isCommunity }: GroupFacts): readonly string[] {
    const renamed = isCommunity ? this.#groupsOf(id) : [];
    return parent === undefined ? renamed : [...renamed, ...this.#move(id, parent, isDefaultSubgroup)];
  }

  /**
   * Applies a notice of a link. The notice does not say which group is the announcement group. If the community of the group is already known, nothing changes.
   */
  #link(id: string, parent: string): readonly string[] {
    return this.#memberships.get(id)?.parent === parent ? [] : this.#move(id, parent, false);
  }

  /** Moves a group to a community, and returns the subgroups whose view changes. `parent`: '' for no community. */
  #move(id: string, parent: string, isDefault: boolean): readonly string[] {
    const known = this.#memberships.get(id);
    if ((known?.parent ?? '') === parent && (known?.isDefault ?? false) === isDefault) return [];
    if (parent === '') this.#memberships.delete(id);
    else this.#memberships.set(id, { parent, isDefault });
    // The views of all subgroups contain the announcement group, so they change with it.
    return isDefault || known?.isDefault ? [id, ...this.#groupsOf(parent), ...this.#groupsOf(known?.parent ?? '')] : [id];
  }

  #gone(id: string): readonly string[] {
    const left = this.#groupsOf(id);
    for (const group of left) this.#memberships.delete(group);
    this.#pictures.delete(id);
    return [...left, ...this.#move(id, '', false)];
  }
}
