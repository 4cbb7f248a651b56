/** An S3 server on loopback that stores its objects in a folder of the test. */
import { createRequire } from 'node:module';
import { after } from 'node:test';

interface Options {
  readonly address: string;
  readonly port: number;
  readonly silent: boolean;
  readonly directory: string;
  readonly configureBuckets: readonly { readonly name: string }[];
  readonly allowMismatchedSignatures?: boolean;
}

interface S3Server {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

/** The class of the S3 server. Its package has no types. */
const S3Server = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: Options) => S3Server;

/** Opens a server. Returns the address of a bucket. With `lax` the server accepts any signature. It closes after the tests of the file. */
export const openBucketServer = async (directory: string, { lax }: { readonly lax: boolean }): Promise<string> => {
  const usual = { address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: 'files' }] };
  const server = new S3Server({ ...usual, allowMismatchedSignatures: lax });
  const { port } = await server.run();
  after(() => server.close());
  return `http://127.0.0.1:${port}/files`;
};
