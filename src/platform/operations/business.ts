/** Operations on profiles of businesses. */
import { getBinaryNodeChild } from '@whiskeysockets/baileys';
import { profileFields, refuse, type ProfileField } from '#actors/model.ts';
import type { BusinessOperations } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { answered, refused } from '../wire/outcomes.ts';
import { catalogHandlers } from './catalog.ts';
import { askBusiness, ownerOf, whereOffered } from './business-query.ts';
import { categoriesIn, leaf, profileOf } from './business-nodes.ts';
import { element } from './group-queries.ts';
import type { Handlers } from './handlers.ts';
import { meant } from './meanings.ts';
import { reasonOf } from './refusal-words.ts';

const profiles = { xmlns: 'w:biz' } as const;

const changeField = (connection: LiveConnection, field: ProfileField, text: string) =>
  meant(
    connection,
    askBusiness(connection, 'set', element('business_profile', { v: '3', mutation_type: 'delta' }, [leaf(field, text)]), profiles),
    {},
  );

type ProfileOperations = Pick<BusinessOperations, 'business.profile' | 'business.categories' | 'business.changeProfile'>;

const profileHandlers: Handlers<ProfileOperations> = {
  'business.profile': async (connection, { owner }) => {
    const jid = await ownerOf(connection, owner);
    if (!jid.ok) return jid;
    const wanted = element('business_profile', { v: '244' }, [element('profile', { jid: jid.value })]);
    const answer = getBinaryNodeChild(await askBusiness(connection, 'get', wanted, profiles), 'business_profile');
    const node = answer && getBinaryNodeChild(answer, 'profile');
    return node ? answered(profileOf(node)) : refuse('notFound', 'there is no business profile');
  },

  'business.categories': async (connection) => {
    const wanted = element('request', { op: 'profile_typeahead', type: 'catkit', v: '1' }, [element('query')]);
    const response = getBinaryNodeChild(await askBusiness(connection, 'get', wanted, { xmlns: 'fb:thrift_iq' }), 'response');
    return answered(categoriesIn(getBinaryNodeChild(response, 'categories')));
  },

  'business.changeProfile': async (connection, wishes) => {
    const updated: ProfileField[] = [];
    const failed: Partial<Record<ProfileField, string>> = {};
    let code: number | null = null;
    for (const field of profileFields) {
      const text = wishes[field];
      if (text === undefined) continue;
      const done = await changeField(connection, field, text);
      if (done.ok) updated.push(field);
      else {
        const { code: given = 0, message } = done.refusal;
        failed[field] = reasonOf('business.changeProfile', given, message);
        code ??= done.refusal.code ?? null;
      }
    }
    if (updated.length > 0) return answered({ updated, failed });
    const causes = Object.entries(failed).map(([field, message]) => `${field}: ${message}`);
    const refusal = refused(code, `the platform refused to change the business profile: ${causes.join('; ')}`);
    return { ok: false, refusal: { ...refusal.refusal, causes } };
  },
};

export const businessHandlers: Handlers<BusinessOperations> = whereOffered({ ...profileHandlers, ...catalogHandlers });
