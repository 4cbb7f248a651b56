/** Shapes of businesses: profiles, catalogs, products and collections. Prices are whole thousandths of the currency's unit, in digits. */
import { type TSchema, Type } from 'typebox';
import {
  businessProfileFields,
  catalogFields,
  categoryFields,
  collectionFields,
  collectionPageFields,
  productFields,
} from '#src/contract/views.ts';
import { fields, Flag, FreeObject, LooseText, optional, Text } from './common.ts';

const text = Type.String();

const answerOf = <T extends TSchema>(response: T) => Type.Object({ response });

const businessExample = '5511999999999@s.whatsapp.net';

const Owner = LooseText(128, 'A number, or the id of a person', 1);

export const ProfileBody = Type.Object({
  jid: optional(
    Type.Unsafe<string | number>({
      ...Owner,
      minLength: 0,
      description: 'Owner of the profile; if absent, the account itself',
      examples: [businessExample],
    }),
  ),
});

export const ProfileAnswer = answerOf(Type.Object(businessProfileFields));

export const CategoriesAnswer = answerOf(Type.Array(Type.Object(categoryFields)));

export const UpdateProfileBody = Type.Object({
  description: optional(Text(512, 'Description of the business')),
  address: optional(Text(256, 'Address of the business')),
  email: optional(
    Type.String({
      maxLength: 128,
      pattern: String.raw`^(?:[^@\s]+@[^@\s]+)?$`,
      description: 'Its address for e-mail; empty takes it away',
    }),
  ),
});

/** The outcome of each field, in answers and in refusals. */
export const updateCounts = {
  response: FreeObject('Outcome by field: `updated`, or the reason of the refusal'),
  ...fields('updated failed', Type.Integer()),
};

export const UpdateProfileAnswer = Type.Object(updateCounts);

const Id = (description: string) => Type.String({ minLength: 1, maxLength: 64, description, examples: ['6987301987654321'] });
const productId = Id('Id of a product');
const Cursor = (description: string) => optional(Text(1024, description));

export const CatalogBody = Type.Object({
  jid: Type.Unsafe<string | number>({ ...Owner, examples: [businessExample] }),
  after: Cursor('The cursor `Paging.After` of the page before'),
});

export const CatalogAnswer = answerOf(Type.Object(catalogFields));

export const ProductOfBody = Type.Object({ jid: CatalogBody.properties.jid, id: productId });
export const ProductBody = Type.Object({ id: productId });

export const ProductAnswer = answerOf(Type.Object(productFields));
export const DoneAnswer = answerOf(text);

const Price = (description: string) => Type.String({ pattern: String.raw`^\d{1,18}$`, description, examples: ['19900'] });
const Urls = (description: string) => Type.Array(Text(2048, 'An address'), { maxItems: 10, description });

const addressLines = fields('street1 street2 city region postal_code country_code', optional(Text(256, 'A part of the address')));

const Compliance = Type.Object(
  {
    country_code_origin: optional(Text(8, 'Country that the product comes from')),
    importer_name: optional(Text(256, 'Importer of the product')),
    importer_address: optional(Type.Object(addressLines, { description: 'Address of the importer' })),
  },
  { description: 'Origin of the product, which some countries require' },
);

export const SaveBody = Type.Object({
  id: optional(Type.Unsafe<string>({ ...productId, description: 'Id of the product that changes; without it a new one is made' })),
  name: Type.String({ minLength: 1, maxLength: 256, pattern: String.raw`\S`, description: 'Name of the product', examples: ['Mug'] }),
  description: optional(Text(4096, 'Description of the product')),
  currency: optional(Type.String({ pattern: '^[A-Z]{3}$', description: 'Three capital letters', examples: ['BRL'] })),
  price: optional(Price('Thousandths of the currency’s unit')),
  sale_price: optional(Price('The price while it is on offer, in thousandths')),
  url: optional(Text(2048, 'Address of a page about it')),
  retailer_id: optional(Text(256, 'The seller’s own number for it')),
  is_hidden: optional(Flag('Customers do not see it')),
  image_urls: optional(
    Type.Unsafe<readonly string[]>({
      ...Urls('Pictures that the platform has already and that stay: addresses of its media hosts'),
      minItems: 1,
    }),
  ),
  video_urls: optional(Urls('Videos that the platform has already: addresses of its media hosts')),
  image_data: optional(Type.String({ minLength: 1, description: 'A new picture: base64 or a data URL' })),
  image_url: optional(
    Type.String({
      maxLength: 2048,
      pattern: '^[hH][tT][tT][pP][sS]://',
      description: 'A new picture: a public HTTPS address',
      examples: ['https://example.com/mug.jpg'],
    }),
  ),
  compliance_category: optional(Text(128, 'The platform’s word for the rules that apply, such as COUNTRY_ORIGIN_EXEMPT')),
  compliance_info: optional(Compliance),
  width: optional(Type.Integer({ minimum: 1, maximum: 1024, description: 'Pixels of the pictures in the platform’s answer' })),
  height: optional(Type.Integer({ minimum: 1, maximum: 1024, description: 'Pixels of the pictures in the platform’s answer' })),
});

export const CollectionsQuery = Type.Object({ after: Cursor('`response.next` of the page before') });
export const CollectionsAnswer = answerOf(Type.Object(collectionPageFields));

const CollectionName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: String.raw`\S`,
  description: 'The name of the collection',
  examples: ['Kitchen'],
});
const ProductIds = (description: string) => Type.Array(productId, { maxItems: 1000, description });

export const CreateCollectionBody = Type.Object({
  name: CollectionName,
  product_ids: Type.Unsafe<readonly string[]>({ ...ProductIds('Ids of its products'), minItems: 1 }),
});
export const CollectionParams = Type.Object({ id: Id('Id of the collection') });
export const ChangeCollectionBody = Type.Object({
  name: optional(CollectionName),
  add_product_ids: optional(ProductIds('Products that come into it')),
  remove_product_ids: optional(ProductIds('Products that leave it')),
});
export const CollectionAnswer = answerOf(Type.Object(collectionFields));
